// `npm run import -- FAMILY FILE...`: sends the history that another product exported, or a web server's access log, to
// a running instance, with a private key, because it may be of any age. Addresses stay on this machine.

import { constants, setPriority } from 'node:os';
import { readFlags, runCommand } from '../demo/command.ts';
import { createProgress, type Progress } from '../demo/progress.ts';
import { RequestRefused } from '../demo/sending/request-refused.ts';
import { findTarget, type Target, targetOptions } from '../demo/sending/target.ts';
import type { LocateAddress } from '../ingest/caller/geo.ts';
import { systemClock } from '../platform/clock.ts';
import type { HistoryFamily } from './families/history-family.ts';
import { accessLog, familyNames, familyOf, refusedFamilies } from './families.ts';
import { type Input, openInputs } from './files/open-input.ts';
import { UnreadableFile } from './files/unreadable-file.ts';
import { runImport } from './run-import.ts';
import type { Service } from './sending/service.ts';
import { nothingTaken, progressText, summaryLines } from './summary.ts';
import { Tally } from './tally.ts';

const usage =
  `npm run import -- ${familyNames.join('|')} FILE|FOLDER|-... [--dry-run] [--url URL] [--private-key PRV] ` +
  '[--data DIR] [--zone ZONE] [--without-traits]; access-log also: [--hostname NAME] [--scheme https] ' +
  '[--client-field N|last|NAME] [--query NAMES] [--geo-database FILE] [--secret TEXT] [--all]';
const connections = 4;
const progressMs = 250;
/** The exit code of what Ctrl-C ended. */
const interrupted = 130;

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const options = {
  ...{ ...targetOptions, hostname: text, scheme: text, secret: text, zone: text },
  ...{ 'client-field': text, query: text, 'geo-database': text },
  ...{ all: flag, 'dry-run': flag, 'without-traits': flag },
} as const;

type Flags = ReturnType<typeof readFlags<{ options: typeof options }>>['values'];

await runCommand('import', async () => {
  const { values: flags, positionals } = readFlags({ options, allowPositionals: true }, usage);
  const [name, ...paths] = positionals;
  const why = refusedFamilies.get(name ?? '');
  if (why !== undefined) throw new RequestRefused(why);
  if (name === undefined || !familyNames.includes(name) || paths.length === 0) {
    throw new RequestRefused(`usage: ${usage}`);
  }
  const isDry = flags['dry-run'] ?? false;
  const found = findTarget(flags, isDry ? [] : ['privateKey']);
  if (found.kind === 'refused') throw new RequestRefused(found.why);
  const { target } = found;
  const family = await familyWith(name, flags, target);
  const inputs = await readable(() => openInputs(paths));
  const service = isDry ? undefined : await reach(target);
  // Whoever asks the service on this machine comes first.
  setPriority(constants.priority.PRIORITY_LOW);
  process.once('SIGINT', () => {
    process.stderr.write('\nimport: stopped; the same command again goes on with what is left\n');
    process.exit(interrupted);
  });
  try {
    await importAll(family, inputs, service, !(flags['without-traits'] ?? false));
  } finally {
    await service?.close();
  }
});

// What only some runs need is loaded by them: all of it takes longer than a dry run of ten thousand lines.

async function reach(target: Target): Promise<Service> {
  const [{ createClient }, { Service: Sending }] = await Promise.all([
    import('../demo/sending/client.ts'),
    import('./sending/service.ts'),
  ]);
  const client = createClient({ baseUrl: target.baseUrl, connections: 1 });
  await client.checkReady().finally(() => client.close());
  return new Sending(target, connections);
}

async function familyWith(
  name: string,
  flags: Flags,
  { privateKey }: Target,
): Promise<HistoryFamily> {
  const zone = flags.zone === undefined ? undefined : await zoneNamed(flags.zone);
  if (flags.zone !== undefined && zone === undefined) {
    throw new RequestRefused(`--zone ${flags.zone} is no time zone, such as Europe/Berlin`);
  }
  if (zone !== undefined && name !== 'mixpanel') {
    throw new RequestRefused('--zone is for mixpanel alone: the other formats tell their times');
  }
  if (name !== accessLog) {
    const family = familyOf(name, zone);
    if (family === undefined) throw new RequestRefused(`usage: ${usage}`);
    return family;
  }
  const field = flags['client-field'];
  const [{ createAccessLog }, { clientField }] = await Promise.all([
    import('./families/access-log.ts'),
    import('./access-log/client-address.ts'),
  ]);
  return createAccessLog({
    // The same key gives the same ids; a project whose key changes keeps its visitors with --secret.
    secret: flags.secret ?? privateKey,
    client: field === undefined ? undefined : clientField(field),
    hostname: flags.hostname ?? 'localhost',
    scheme: flags.scheme,
    all: flags.all ?? false,
    query: flags.query,
    locate: await openPlaces(flags['geo-database']),
    nowMs: systemClock.nowMs(),
  });
}

async function zoneNamed(text: string): Promise<string | undefined> {
  const { zones } = await import('../platform/zones/zones.ts');
  return zones.nameOf(text);
}

async function openPlaces(file: string | undefined): Promise<LocateAddress | undefined> {
  if (file === undefined) return undefined;
  const { openGeo } = await import('../ingest/caller/geo.ts');
  try {
    return openGeo(file);
  } catch (error) {
    throw new RequestRefused(error instanceof Error ? error.message : String(error));
  }
}

async function importAll(
  family: HistoryFamily,
  inputs: readonly Input[],
  service: Service | undefined,
  sendsTraits: boolean,
): Promise<void> {
  const tally = new Tally();
  const isKnown = inputs.every(({ bytes }) => bytes > 0);
  const totalBytes = isKnown ? inputs.reduce((sum, { bytes }) => sum + bytes, 0) : 0;
  const progress = createProgress(process.stdout, isKnown ? totalBytes : undefined);
  const shown = showProgress(progress, tally, totalBytes);
  try {
    await readable(() =>
      runImport({
        ...{ family, inputs, service, sendsTraits, tally, clock: systemClock },
        onBytes: shown.onBytes,
      }),
    );
  } finally {
    shown.end();
  }
  for (const line of summaryLines(tally, service === undefined, family)) {
    process.stdout.write(`${line}\n`);
  }
  if (tally.isEmpty) throw new RequestRefused(nothingTaken(tally));
  if (tally.brokenOff.length > 0) process.exitCode = 1;
}

function showProgress(progress: Progress, tally: Tally, totalBytes: number) {
  const startMs = performance.now();
  let bytes = 0;
  const show = (): void => {
    const elapsedMs = performance.now() - startMs;
    // Where nobody knows how much there is, the events tell how far it is.
    const done = totalBytes > 0 ? bytes : tally.events;
    progress.show(done, progressText(tally, { bytes, totalBytes, elapsedMs }));
  };
  const timer = setInterval(show, progressMs);
  return {
    onBytes: (some: number): void => {
      bytes += some;
    },
    end: (): void => {
      clearInterval(timer);
      progress.end();
    },
  };
}

/** Of what a file's reading throws, one sentence. */
async function readable<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof UnreadableFile) throw new RequestRefused(error.message);
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new RequestRefused(`a file cannot be read to its end: ${error.message}`);
  }
}
