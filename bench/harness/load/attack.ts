// One attack, played again and again until the process ends. It runs at the lowest priority: an attacker brings
// machines of its own, and the two cores of a bench are the service's and the load's.

import { constants, setPriority } from 'node:os';
import { attacks, type Target } from '../../../test/harness/requests/exhaustion.ts';

/** `name` is one of `attacks`; `share` is the share of its requests that each round sends. Never resolves. */
export async function runAttack(
  name: string,
  target: Target,
  share: number,
  onBegun: () => void,
): Promise<never> {
  const attack = attacks.find((one) => one.name === name);
  if (attack === undefined) throw new Error(`there is no attack named ${name}`);
  setPriority(constants.priority.PRIORITY_LOW);
  onBegun();
  for (;;) await attack.run(target, Math.ceil(attack.times * share));
}
