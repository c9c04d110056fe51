// What is looked at before any load: that the instance is ready, that the keys open it, and whether the project has
// events of its own.

import type { Client } from '../demo/sending/client.ts';
import { RequestRefused } from '../demo/sending/request-refused.ts';
import type { Target } from '../demo/sending/target.ts';
import { wellKnownKinds } from '../proto/wire/well-known-kinds.ts';

/** Every kind that this command sends begins so. */
export const kindPrefix = 'load_';
const looked = 100;

/** Warnings for the person at the terminal. Throws a RequestRefused where the load cannot begin. */
export async function checkInstance(client: Client, target: Target): Promise<string[]> {
  await client.checkReady();
  await client.sendEvents([], target.publicKey);
  const stay = 'the events stay in the project: nothing deletes them again';
  if (target.privateKey === '') {
    return [
      `${stay}; without --private-key nobody can tell whether it has others, or count the stored`,
    ];
  }
  const hasOthers = await hasOtherEvents(client, target.privateKey).catch((error) => {
    if (!(error instanceof RequestRefused)) throw error;
    throw new RequestRefused(`with the private key ${error.message}`);
  });
  return hasOthers
    ? [stay, 'WARNING: the project has other events, and these will be among them']
    : [stay];
}

/** The newest events may all be of an earlier run: events of the kinds that pages and shops send are asked for too. */
async function hasOtherEvents(client: Client, privateKey: string): Promise<boolean> {
  const newest = await client.listEvents({ pageSize: looked }, privateKey);
  if (newest.some(({ kind }) => !kind.startsWith(kindPrefix))) return true;
  const wellKnown = { kinds: [...wellKnownKinds.keys()], pageSize: 1 };
  return (await client.listEvents(wellKnown, privateKey)).length > 0;
}
