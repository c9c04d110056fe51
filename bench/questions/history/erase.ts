// What does the erasure of a person cost beside one scan of all events, and how long does it take? The CPU of all
// processes is measured; what they use while nobody asks for anything is subtracted.

import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isObject } from '../../../platform/json.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { type Bench, check } from '../../bench.ts';
import { runStatement } from '../../harness/engine/engine-statement.ts';
import { untilMerged } from '../../harness/engine/merges.ts';
import { distinctIdPrefix, type People, storePeople } from '../../harness/engine/stored-people.ts';
import { queryNumber } from '../../harness/load/stored-rows.ts';
import { median } from '../../harness/pairs.ts';
import { cpuOfParts } from '../../harness/usage.ts';

/** Of each of two projects: the table has twice as many. */
const smoke = { events: 2_000, profiles: 40, persons: 1, scans: 1, idleMs: 100 };
const real = { events: 2_500_000, profiles: 50_000, persons: 5, scans: 3, idleMs: 10_000 };

/** A question every 100 ms took a fortieth of a core. */
const pollMs = 500;
const timeoutMs = 300_000;

export const eraseBench: Bench = {
  name: 'erase',
  question: 'What does it cost to erase a person, and how long does it take?',
  async run(mode, session) {
    const { events, profiles, persons, scans, idleMs } = mode === 'smoke' ? smoke : real;
    const stack = await session.stack();
    const { without: people } = await storePeople(stack, {
      ...{ events, profiles, merges: 1, coming: 'visits' },
    });
    await untilMerged(stack);
    const scanMs: number[] = [];
    for (let scan = 0; scan < scans; scan++) scanMs.push(await costOf(stack, () => readAll(stack)));
    const idle = (await costOf(stack, () => delay(idleMs))) / idleMs;
    const costs: number[] = [];
    const wallMs: number[] = [];
    for (let person = 0; person < persons; person++) {
      const startMs = performance.now();
      const cost = await costOf(stack, () => erase(stack, people, `${distinctIdPrefix}${person}`));
      const tookMs = performance.now() - startMs;
      wallMs.push(tookMs);
      costs.push(cost - idle * tookMs);
      await untilMerged(stack);
    }
    const rows = await queryNumber(stack, 'SELECT count() FROM events');
    const [scanned, cost, wall] = [scanMs, costs, wallMs].map(median);
    check(scanned !== undefined && cost !== undefined && wall !== undefined, 'figures');
    return {
      tables: [
        {
          title: `erasure of ${persons} of ${profiles} persons, one after the other, medians; CPU of all processes beyond ${idle.toFixed(3)} of a core while idle`,
          columns: ['events', 'scan CPU ms', 'erasure CPU ms', 'of a scan', 'seconds', 'of a core'],
          rows: [
            [
              rows.toFixed(0),
              Number(scanned).toFixed(0),
              Number(cost).toFixed(0),
              (Number(cost) / Math.max(Number(scanned), 1)).toFixed(2),
              (Number(wall) / 1_000).toFixed(1),
              (Number(cost) / Number(wall)).toFixed(2),
            ],
          ],
        },
      ],
      resultHash: createHash('sha256').update('nothing is left of the persons').digest('hex'),
    };
  },
};

async function costOf(stack: Stack, work: () => Promise<void>): Promise<number> {
  const before = cpuOfParts(stack);
  await work();
  const after = cpuOfParts(stack);
  return (
    after.service + after.broker + after.engine - before.service - before.broker - before.engine
  );
}

/** All columns of all events. */
async function readAll(stack: Stack): Promise<void> {
  await runStatement(stack, 'SELECT sum(cityHash64(*)) FROM events FORMAT TabSeparated');
}

async function erase(stack: Stack, people: People, externalId: string): Promise<void> {
  const { projectId } = people;
  const own = `project_id = '${projectId}' AND distinct_id = '${externalId}'`;
  const count = () => queryNumber(stack, `SELECT count() FROM events WHERE ${own}`);
  const events = await count();
  check(events > 0, 'the person has events');
  const { requestId } = await ask(stack, people, 'DeleteDataSubject', { externalId });
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask(stack, people, 'GetDeletionRequest', { requestId });
    if (answer['status'] === 'COMPLIANCE_REQUEST_STATUS_COMPLETED') {
      check(Number(answer['eventsIdentified']) === events, 'all events of the person are found');
      break;
    }
    check(performance.now() < deadlineMs, 'an erasure that ends');
    await delay(pollMs);
  }
  check((await count()) === 0, 'nothing is left of the person');
}

async function ask(
  { baseUrl }: Stack,
  { privateKey }: People,
  method: string,
  message: object,
): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(`${baseUrl}/shared.profiles.v1.ProfilesService/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': privateKey },
    body: JSON.stringify(message),
  });
  const body: unknown = await response.json();
  check(response.status === 200 && isObject(body), `an answer of ${method}`);
  return isObject(body) ? body : {};
}
