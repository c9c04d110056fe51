// Who has an account at the demo's shop, as its server identifies them: member number n has the same invented name and
// plan in every run.

import { createRandom, createWeighted } from '../random.ts';
import { memberId, type Visitor } from './population.ts';

/** What Identify says of a member. */
export interface Member {
  externalId: string;
  /** The id of the visits before the account; empty where the shop has known no other. */
  anonymousId: string;
  traits: { name: string; email: string; plan: string; language: string; signed_up_at: string };
}

const memberSeed = 7_002;

const firstNames = [
  ...['Ada', 'Amir', 'Anouk', 'Bela', 'Carla', 'Chidi', 'Dara', 'Elif', 'Emil', 'Farah', 'Goran'],
  ...['Hana', 'Ines', 'Ivo', 'Jonas', 'Kaya', 'Lena', 'Luca', 'Mira', 'Nils', 'Noor', 'Olga'],
  ...['Pavel', 'Rosa', 'Sami', 'Tara', 'Tomas', 'Uma', 'Vera', 'Yuki', 'Zoe'],
];
const lastNames = [
  ...['Amberg', 'Birkwood', 'Calloway', 'Dunmore', 'Elmsted', 'Fairlock', 'Grendal', 'Hallowell'],
  ...['Istvale', 'Jarrowin', 'Kestrin', 'Lindqvale', 'Marlowen', 'Norhaven', 'Oakhurst', 'Penrowe'],
  ...['Quillmere', 'Ravenby', 'Silverton', 'Thornley', 'Umberlin', 'Vandermoor', 'Westerlin'],
  ...['Yarrowby', 'Zelverin'],
];
const pickPlan = createWeighted([
  [60, 'free'],
  [30, 'plus'],
  [10, 'business'],
]);

/** Of visitor number `index`, who signed up at `registeredMs`. */
export function memberOf(index: number, visitor: Visitor, registeredMs: number): Member {
  const random = createRandom(memberSeed, index);
  const [first, last] = [random.pick(firstNames), random.pick(lastNames)];
  const externalId = memberId(index);
  return {
    externalId,
    anonymousId: visitor.distinctId === externalId ? '' : visitor.distinctId,
    traits: {
      name: `${first} ${last}`,
      email: `${first}.${last}.${index}@mail.example`.toLowerCase(),
      plan: pickPlan(random),
      language: visitor.place.language,
      signed_up_at: new Date(registeredMs).toISOString(),
    },
  };
}
