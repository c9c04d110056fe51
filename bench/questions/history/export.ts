// Rows on their way out: how fast is an export beside the engine's own file of the same rows, and what do events of now
// notice of exports of their project, one after the other?

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parquetMetadata } from 'hyparquet';
import { insertArrow } from '../../../platform/clickhouse/clickhouse.ts';
import { oneGroup } from '../../../platform/clickhouse/groups.ts';
import { startHttp } from '../../../platform/http/http.ts';
import { isObject } from '../../../platform/json.ts';
import { createLog } from '../../../platform/log.ts';
import { createExportRoute } from '../../../query/export/export-route.ts';
import { call } from '../../../test/harness/clients/client.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { type Bench, check, type Mode, type Session, type Table } from '../../bench.ts';
import { createBatches } from '../../harness/batches.ts';
import { openMigratedEngine } from '../../harness/engine/migrated-engine.ts';
import { queryableP99 } from '../../harness/load/neighbour.ts';
import { comparePairs, median, type Pairing } from '../../harness/pairs.ts';
import { onShopCopy } from '../../harness/shop/shop-copy.ts';
import { shopOf } from '../../harness/shop/shop-sizes.ts';
import { cpuMsOf } from '../../harness/usage.ts';
import { keptExport } from './kept-export.ts';

const sizes = {
  smoke: { batches: 1, batchRows: 500, pairs: 1, warmUps: 0, turns: 1, liveMs: 300 },
  real: { batches: 10, batchRows: 50_000, pairs: 5, warmUps: 1, turns: 3, liveMs: 10_000 },
} as const;

const seed = 41;
const shopEvents = 1_000_000;
const keptPollMs = 100;

export const exportBench: Bench = {
  name: 'export',
  question: 'How fast do rows leave, and what do events of now notice of it?',
  async run(mode, session) {
    const rate = await rateTable(mode);
    const beside = await onShopCopy(shopOf(mode, Date.now(), shopEvents), mode, session, (stack) =>
      besideTable(stack, session, mode),
    );
    const resultHash = createHash('sha256').update('the files hold every row').digest('hex');
    return { tables: [rate, beside], resultHash };
  },
};

async function rateTable(mode: Mode): Promise<Table> {
  const { batches, batchRows, pairs, warmUps } = sizes[mode];
  const { directory, engine, client, close } = await openMigratedEngine();
  const file = join(directory, 'own.parquet');
  const route = createExportRoute({
    clickhouse: oneGroup(client),
    authenticate: (_, { projectIdHeader = '' }) => ({
      kind: 'ok',
      principal: {
        projectId: projectIdHeader,
        organizationId: '',
        credential: 'private',
        keyId: '',
      },
    }),
    completeUntilMs: async () => undefined,
    log: createLog('silent'),
  });
  const http = await startHttp({
    ...{ host: '127.0.0.1', port: 0, nodeHttpRoutes: [route], serviceAliases: new Map() },
    connect: { routes: () => {} },
  });
  try {
    const makeBatch = createBatches(seed);
    for (let batch = 0; batch < batches; batch++) {
      await insertArrow(client, 'events', makeBatch(batchRows), `export-${batch}`);
    }
    const answer = await client.query({
      query: 'SELECT any(project_id) AS id FROM events',
      format: 'JSONEachRow',
    });
    const [row] = await answer.json<{ id: string }>();
    const projectId = row?.id ?? '';
    const url = `http://127.0.0.1:${http.port}/export?format=parquet&project=${projectId}`;
    const own = `SELECT * FROM events WHERE project_id = '${projectId}' INTO OUTFILE '${file}' TRUNCATE FORMAT Parquet`;
    let bytes = 0;
    const ownFile = {
      async run() {
        await engine.command(own);
        return Number(parquetMetadata(new Uint8Array(readFileSync(file)).buffer).num_rows);
      },
    };
    const options = { pairs, warmUps, swaps: true, othersCpuMs: () => cpuMsOf(engine.pid) };
    const pairing = await comparePairs(
      {
        async run() {
          const body = await (await fetch(url)).arrayBuffer();
          bytes = body.byteLength;
          return Number(parquetMetadata(body).num_rows);
        },
      },
      ownFile,
      options,
    );
    const kept = await comparePairs(
      keptExport({ client, dataDir: join(directory, 'kept'), projectId }),
      ownFile,
      options,
    );
    const rows = batches * batchRows;
    check(pairing.subjectResult === rows, `${rows} rows are exported`);
    check(kept.subjectResult === rows, `${rows} rows are in the files that are kept`);
    check(pairing.calibrationResult === rows, `${rows} rows are in the engine's own file`);
    return tableOfRates(pairing, kept, bytes);
  } finally {
    await http.close(0);
    await close();
  }
}

/** Each way beside the runs of the engine's own file that it took turns with. */
function tableOfRates(pairing: Pairing, kept: Pairing, bytes: number): Table {
  const { subjectResult: rows, calibrationWallMs } = pairing;
  const cells = (wallMs: number, cpuMs: number): string[] => [
    ((1_000 * rows) / wallMs).toFixed(0),
    ((1_000 * cpuMs) / rows).toFixed(2),
  ];
  return {
    title: `${rows} events as Parquet (${(bytes / 1_048_576).toFixed(1)} MiB), CPU of service and engine together`,
    columns: ['file', 'rows/s', 'us/row', 'of own file', 'CPU ratio'],
    rows: [
      ...[
        { name: 'GET /export', of: pairing },
        { name: 'kept', of: kept },
      ].map(({ name, of }) => [
        name,
        ...cells(of.subjectWallMs, of.subjectCpuMs),
        (of.calibrationWallMs / of.subjectWallMs).toFixed(2),
        of.ratio.median.toFixed(2),
      ]),
      ['INTO OUTFILE', ...cells(calibrationWallMs, pairing.calibrationCpuMs), '1.00', '1.00'],
    ],
  };
}

interface Turn {
  quietMs: number;
  besideMs: number;
  exportedMiB: number;
}

/** `stop` resolves with the bytes that were exported. */
interface Exporting {
  stop(): Promise<number>;
}

const ways: readonly { name: string; begin(stack: Stack): Exporting }[] = [
  { name: 'GET /export', begin: streamAgain },
  { name: 'kept', begin: keepAgain },
];

async function besideTable(stack: Stack, session: Session, mode: Mode): Promise<Table> {
  const { turns, liveMs } = sizes[mode];
  const rows: string[][] = [];
  for (const { name, begin } of ways) {
    const pairs: Turn[] = [];
    for (let turn = 0; turn < turns; turn++) {
      const quietMs = await queryableP99(stack, session, liveMs);
      const exporting = begin(stack);
      const besideMs = await queryableP99(stack, session, liveMs);
      pairs.push({ quietMs, besideMs, exportedMiB: (await exporting.stop()) / 1_048_576 });
    }
    const of = (value: (turn: Turn) => number): number => median(pairs.map(value));
    rows.push([
      name,
      of(({ quietMs }) => quietMs).toFixed(0),
      of(({ besideMs }) => besideMs).toFixed(0),
      of(({ quietMs, besideMs }) => besideMs / quietMs).toFixed(2),
      of(({ exportedMiB }) => exportedMiB).toFixed(1),
    ]);
  }
  return {
    title: `50 requests/s of one event beside exports of the same project, medians of ${turns} pairs`,
    columns: ['exports', 'quiet p99 ms', 'p99 ms', 'export p99 ratio', 'MiB exported'],
    rows,
  };
}

/** Exports all events as Parquet, again and again. */
function streamAgain({ baseUrl, privateKey }: Stack): Exporting {
  return again(async (signal, add) => {
    const options = { headers: { 'x-api-key': privateKey }, signal };
    const response = await fetch(`${baseUrl}/export?format=parquet`, options);
    // The place of the export before is free once its end is seen.
    check(response.status === 200 || response.status === 429, `an export: ${response.status}`);
    for await (const chunk of response.body ?? []) if (response.ok) add(chunk.length);
  });
}

/** Keeps an export of all events as Parquet, and deletes it once its files are there, again and again. */
function keepAgain(stack: Stack): Exporting {
  const query = { what: 'EXPORT_WHAT_EVENTS', format: 'EXPORT_FORMAT_PARQUET' };
  return again(async (signal, add) => {
    const { id } = exportOf(await askExports(stack, 'Create', { query }));
    for (;;) {
      const { state, bytes } = exportOf(await askExports(stack, 'Get', { id }));
      check(state !== 'EXPORT_STATE_FAILED', 'an export that does not fail');
      // The files that are there count, and at least one is written.
      if (state === 'EXPORT_STATE_READY' || (signal.aborted && bytes > 0)) {
        await askExports(stack, 'Cancel', { id });
        add(bytes);
        return;
      }
      await delay(keptPollMs);
    }
  });
}

/** `once` makes one export, and adds the bytes that it sees; where the signal ends it early, it may reject. */
function again(
  once: (signal: AbortSignal, add: (bytes: number) => void) => Promise<void>,
): Exporting {
  const ending = new AbortController();
  let bytes = 0;
  const work = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await once(ending.signal, (more) => {
        bytes += more;
      });
    }
  };
  const done = work().catch((error: unknown) => {
    if (!ending.signal.aborted) throw error;
  });
  return {
    async stop() {
      ending.abort();
      await done;
      check(bytes > 0, 'something was exported meanwhile');
      return bytes;
    },
  };
}

async function askExports(
  { baseUrl, privateKey }: Stack,
  method: string,
  message: object,
): Promise<Readonly<Record<string, unknown>>> {
  const path = `/shared.exports.v1.ExportsService/${method}`;
  const { status, body } = await call(baseUrl, path, privateKey, message);
  check(status === 200, `an answer of ${method}: ${status}`);
  return body;
}

function exportOf({ export: value }: Readonly<Record<string, unknown>>): {
  id: string;
  state: string;
  bytes: number;
} {
  check(isObject(value), 'an export');
  const { id, state, bytes } = isObject(value) ? value : {};
  return { id: String(id), state: String(state), bytes: Number(bytes ?? 0) };
}
