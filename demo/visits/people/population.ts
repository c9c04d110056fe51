// The people who visit the demo's shop: visitor number n is the same person with the same device in every run, so that
// a second demo adds visits to known people.

import { createRandom } from '../random.ts';
import { type Agent, pickAgent } from './agents.ts';
import { type Place, pickPlace } from './places.ts';

export interface Visitor {
  distinctId: string;
  agent: Agent;
  place: Place;
  registered: boolean;
  /** Time of a registered visitor's sign-up, in milliseconds since the epoch. */
  registeredMs: number;
  /** `browser`: the page reports with a public key; `server`: the shop's server reports with a private key. */
  reportedBy: 'browser' | 'server';
  screen: readonly [width: number, height: number];
}

const populationSeed = 7_001;
const firstRegistrationMs = Date.UTC(2021, 2, 1);
const lastRegistrationMs = Date.UTC(2026, 5, 30);

type Screen = Visitor['screen'];
const desktopScreens: Screen[] = [
  [1920, 1080],
  [1536, 864],
  [2560, 1440],
  [1440, 900],
];
const mobileScreens: Screen[] = [
  [390, 844],
  [412, 915],
  [360, 800],
  [820, 1180],
];

/** The shop's id of visitor number `index`, once there is an account. */
export function memberId(index: number): string {
  return `user_${100_000 + index}`;
}

/** `index` is any whole number from 0. */
export function visitorOf(index: number): Visitor {
  const random = createRandom(populationSeed, index);
  const agent = pickAgent(random);
  const registered = agent.deviceType !== 'bot' && random.chance(0.3);
  const screens = agent.deviceType === 'desktop' ? desktopScreens : mobileScreens;
  return {
    distinctId: registered ? memberId(index) : `anon-${random.uuid()}`,
    agent,
    place: pickPlace(random),
    registered,
    registeredMs: random.between(firstRegistrationMs, lastRegistrationMs),
    reportedBy: random.chance(0.3) ? 'server' : 'browser',
    screen: random.pick(screens),
  };
}
