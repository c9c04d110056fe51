// Inserting one Arrow record batch through the pipeline's client against the engine's own insert of the same bytes from
// a file. Engine, tables, views and durability are the same; only the transport differs.

import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DatabaseClient, insertArrow } from '../../../platform/clickhouse/clickhouse.ts';
import { type Bench, check, type Table } from '../../bench.ts';
import { makeBatches } from '../../harness/batches.ts';
import { openMigratedEngine } from '../../harness/engine/migrated-engine.ts';
import { type Contender, comparePairs, type Pairing } from '../../harness/pairs.ts';
import { cpuMsOf } from '../../harness/usage.ts';

interface Parameters {
  rows: number;
  /** Inserts of one run, more than one because the kernel counts another process's CPU in steps of 10 ms. */
  inserts: number;
  pairs: number;
  warmUps: number;
}

const smoke: Parameters = { rows: 500, inserts: 1, pairs: 1, warmUps: 0 };
const real: Parameters = { rows: 50_000, inserts: 4, pairs: 5, warmUps: 1 };

const seed = 4;

export const insertBench: Bench = {
  name: 'insert',
  question: 'What does an insert cost beside the engine reading the same file itself?',
  async run(mode) {
    const parameters = mode === 'smoke' ? smoke : real;
    const { rows, inserts, pairs, warmUps } = parameters;
    const { directory, engine, client, close } = await openMigratedEngine();
    try {
      const [arrow = new Uint8Array()] = makeBatches(rows, 1, seed);
      const file = join(directory, 'batch.arrow');
      writeFileSync(file, arrow);
      const fromFile = `INSERT INTO events FROM INFILE '${file}' FORMAT ArrowStream`;
      const pairing = await comparePairs(
        contender(client, inserts, (token) => insertArrow(client, 'events', arrow, token)),
        contender(client, inserts, () => engine.command(fromFile)),
        { pairs, warmUps, othersCpuMs: () => cpuMsOf(engine.pid) },
      );
      check(pairing.subjectResult === rows * inserts, `${rows * inserts} rows are stored`);
      check(
        pairing.calibrationResult === pairing.subjectResult,
        'both inserts store the same rows',
      );
      return {
        tables: [tableOf(pairing, parameters, arrow.length)],
        resultHash: createHash('sha256').update(arrow).digest('hex'),
      };
    } finally {
      await close();
    }
  },
};

function tableOf(pairing: Pairing, { rows, inserts }: Parameters, bytes: number): Table {
  const events = rows * inserts;
  const cells = (wallMs: number, cpuMs: number): string[] => [
    Math.round((1_000 * events) / wallMs).toLocaleString('en-US'),
    (wallMs / inserts).toFixed(0),
    ((1_000 * cpuMs) / events).toFixed(2),
  ];
  const { ratio } = pairing;
  const ratios = [ratio.median, ratio.min, ratio.max].map((value) => value.toFixed(2));
  return {
    title: `Inserts of ${rows} rows (${(bytes / 1_048_576).toFixed(1)} MiB), CPU of client and engine together`,
    columns: ['insert', 'rows/s', 'ms/insert', 'us/row', 'ratio', 'min', 'max'],
    rows: [
      ['insertArrow', ...cells(pairing.subjectWallMs, pairing.subjectCpuMs), ...ratios],
      [
        'FROM INFILE',
        ...cells(pairing.calibrationWallMs, pairing.calibrationCpuMs),
        '1.00',
        '',
        '',
      ],
    ],
  };
}

let tokens = 0;

/** Empties the tables, inserts, and counts the rows. */
function contender(
  client: DatabaseClient,
  inserts: number,
  insert: (token: string) => Promise<void>,
): Contender {
  return {
    async prepare() {
      await client.command({ query: 'TRUNCATE TABLE events' });
      await client.command({ query: 'TRUNCATE TABLE profile_activity' });
    },
    async run() {
      for (let index = 0; index < inserts; index++) await insert(`bench-${tokens++}`);
      return countOf(client);
    },
  };
}

/** Rows in the table; throws unless the view's sums have the same number of events. */
async function countOf(client: DatabaseClient): Promise<number> {
  const read = async (query: string): Promise<number> => {
    const result = await client.query({ query, format: 'JSONEachRow' });
    const [row] = await result.json<{ n: string }>();
    return Number(row?.n);
  };
  const rows = await read('SELECT count() AS n FROM events');
  const summed = await read('SELECT sum(total_events) AS n FROM profile_activity');
  check(rows === summed, `${rows} rows are ${summed} events of profiles`);
  return rows;
}
