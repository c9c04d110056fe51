// A process that the service starts for one uploaded file: it checks or imports the file as the command would, says how
// far it is, and ends with its starter. What a hostile file takes, it takes here.

import { constants, setPriority } from 'node:os';
import { create } from '@bufbuild/protobuf';
import { RequestRefused } from '../demo/sending/request-refused.ts';
import { systemClock } from '../platform/clock.ts';
import {
  type ImportJob,
  type ImportNews,
  newsMessage,
  readJob,
} from '../platform/imports/import-run.ts';
import { zones } from '../platform/zones/zones.ts';
import { ImportProgressSchema } from '../proto/gen/dashboard/imports/v1/imports_pb.js';
import { clientField } from './access-log/client-address.ts';
import { createAccessLog } from './families/access-log.ts';
import type { HistoryFamily } from './families/history-family.ts';
import { accessLog, familyNames, familyOf, refusedFamilies } from './families.ts';
import { type Input, openInputs } from './files/open-input.ts';
import { UnreadableFile } from './files/unreadable-file.ts';
import { reportOf } from './import-report.ts';
import { runImport } from './run-import.ts';
import { Service } from './sending/service.ts';
import { nothingTaken } from './summary.ts';
import { Tally } from './tally.ts';
import { tellFamily } from './tell-family.ts';

const connections = 4;
const progressMs = 500;
/** A small archive may unpack to more than anybody exported. */
const maxUnpackedBytes = 100 * 1_073_741_824;
/** Names stand beside lines, and an archive may have long ones. */
const maxNameCharacters = 100;

process.once('disconnect', () => process.exit(1));
process.once('message', (message) => void answer(readJob(message)));

async function answer(job: ImportJob): Promise<void> {
  // Whoever asks the service comes first.
  setPriority(constants.priority.PRIORITY_LOW);
  const news = await run(job).catch((error: unknown) => failure(error, job));
  process.send?.(newsMessage(news), () => process.disconnect());
}

function failure(error: unknown, { path, record }: ImportJob): ImportNews {
  const text = error instanceof Error ? error.message : String(error);
  // Files are named as the sender knows them.
  const said = text.replaceAll(path, record.fileName);
  const isWhole = error instanceof UnreadableFile || error instanceof RequestRefused;
  return { kind: 'failed', why: isWhole ? said : `the file cannot be read to its end: ${said}` };
}

async function run(job: ImportJob): Promise<ImportNews> {
  const { record, path, target } = job;
  const inputs = (await openInputs([path])).map((input) => named(bounded(input), job));
  const name = record.family === '' ? await tellFamily(inputs) : record.family;
  if (name === undefined) {
    throw new UnreadableFile(
      `${record.fileName} is in no format that is known here: choose the product that exported it`,
    );
  }
  const sentence = refusedFamilies.get(name);
  if (sentence !== undefined) throw new UnreadableFile(sentence);
  const family = familyWith(name, job);
  const tally = new Tally();
  const service = target && new Service({ ...target, publicKey: '' }, connections);
  const stop = tellProgress(tally, inputs, job);
  try {
    await runImport({
      ...{ family, inputs, service, tally, clock: systemClock },
      sendsTraits: record.options?.withoutTraits !== true,
      onBytes: stop.onBytes,
    });
  } finally {
    stop.end();
    await service?.close();
  }
  if (tally.isEmpty) throw new UnreadableFile(nothingTaken(tally));
  return { kind: 'done', family: name, report: reportOf(tally, family) };
}

function familyWith(name: string, { record, secret }: ImportJob): HistoryFamily {
  const { timezone = '', hostname = '', clientField: field = '' } = record.options ?? {};
  if (name === accessLog) {
    return createAccessLog({
      ...{ secret, all: false, nowMs: systemClock.nowMs() },
      client: field === '' ? undefined : clientField(field),
      hostname: hostname === '' ? 'localhost' : hostname,
    });
  }
  const zone = timezone === '' ? undefined : zones.nameOf(timezone);
  const family = familyOf(name, name === 'mixpanel' ? zone : undefined);
  if (family !== undefined) return family;
  throw new UnreadableFile(`${name} is none of ${familyNames.join(', ')}`);
}

/** An input whose name a person knows, instead of the path on disk. */
function named(input: Input, { path, record }: ImportJob): Input {
  const name = input.name.replace(path, record.fileName);
  const end = name.length > maxNameCharacters ? '…' : '';
  return { ...input, name: name.slice(0, maxNameCharacters) + end };
}

function bounded(input: Input): Input {
  const { content } = input;
  if (content.kind !== 'bytes') return input;
  let left = maxUnpackedBytes;
  async function* counted(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      left -= chunk.length;
      if (left < 0) throw new UnreadableFile(`${input.name} unpacks to more than 100 GiB`);
      yield chunk;
    }
  }
  return {
    ...input,
    content: { kind: 'bytes', open: (onBytes) => counted(content.open(onBytes)) },
  };
}

/** A check is as far as the bytes that it has read; an import knows from its check how many events there are. */
function tellProgress(tally: Tally, inputs: readonly Input[], { record, target }: ImportJob) {
  const startMs = performance.now();
  const expected = Number(record.report?.events ?? 0n);
  const totalBytes = inputs.reduce((sum, input) => sum + input.bytes, 0);
  // The rows of Parquet are not told by their bytes.
  const knowsBytes = inputs.every(({ content }) => content.kind === 'bytes');
  let bytes = 0;
  const timer = setInterval(() => {
    const isImport = target !== undefined;
    const done = isImport ? tally.sent + tally.stored : bytes;
    const total = isImport ? expected : knowsBytes ? totalBytes : 0;
    const progress = create(ImportProgressSchema, {
      done: BigInt(done),
      total: BigInt(total),
      events: BigInt(isImport ? done : tally.events),
      elapsedMs: BigInt(Math.round(performance.now() - startMs)),
    });
    process.send?.(newsMessage({ kind: 'progress', progress }));
  }, progressMs);
  return {
    onBytes: (some: number): void => {
      bytes += some;
    },
    end: (): void => clearInterval(timer),
  };
}
