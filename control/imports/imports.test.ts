// Imports over HTTP on a real broker and a real disk: refusals, turns, and the end of a file that nobody goes on with.
// Files are read by a process that waits for ever; the product's own process is in test/imports.test.ts.

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Code } from '@connectrpc/connect';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { dayMs } from '../../platform/clock.ts';
import { ImportFiles } from '../../platform/imports/import-files.ts';
import { createLog } from '../../platform/log.ts';
import { type Import, ImportState } from '../../proto/gen/dashboard/imports/v1/imports_pb.js';
import { eventually } from '../../test/harness/clients/client.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  newCustomer,
  startAccounts,
} from '../../test/harness/services/accounts.ts';
import { type ImportSettings, maxLiveImports } from './import-rpc.ts';
import { startImports } from './import-runner.ts';

const broker = useBroker();
const log = createLog('silent');
const script = join(mkdtempSync(join(tmpdir(), 'millrace-waits-')), 'waits.mjs');
let aheadMs = 0;
/** The runner's alone: sessions go on. */
const clock = { nowMs: () => Date.now() + aheadMs };
const settings: ImportSettings = { refusal: undefined, reserveBytes: 0 };
let accounts: AccountsProcess;
let owner: Awaited<ReturnType<typeof newCustomer>>;
let runner: Awaited<ReturnType<typeof startImports>> | undefined;

beforeAll(async () => {
  writeFileSync(
    script,
    "process.on('disconnect', () => process.exit()); process.on('message', () => {});",
  );
  const changeLimits = { perCustomer: 10_000, perOrganization: 10_000 };
  const control = { imports: settings, changeLimits };
  accounts = await startAccounts({ brokerUrl: broker.url, control });
  owner = await newCustomer(accounts);
});

afterEach(async () => {
  await runner?.stop();
  runner = undefined;
  Object.assign(settings, { refusal: undefined, reserveBytes: 0 });
  aheadMs = 0;
  const files = new ImportFiles(accounts.dataDir);
  for (const projectId of await files.liveProjects()) await files.remove(projectId);
});

afterAll(async () => {
  await accounts.close();
  rmSync(join(script, '..'), { recursive: true });
});

async function run(refusal?: string): Promise<void> {
  const files = new ImportFiles(accounts.dataDir);
  const { projects } = accounts;
  runner = await startImports({ files, projects, refusal, baseUrl: '', script, clock, log });
}

/** A new project of the owner's. */
async function newProject() {
  const { orgId } = owner;
  const made = await accounts.as(bearer(owner)).projects.create({ orgId, displayName: 'P' });
  const { imports } = accounts.as(bearer(owner, made.project?.id ?? ''));
  const only = async (): Promise<Import | undefined> => (await imports.list({})).imports[0];
  const until = (isThere: (found: Import | undefined) => boolean) => eventually(only, isThere);
  const begin = async (bytes = 1n): Promise<string> =>
    (await imports.create({ fileName: 'a', bytes })).import?.id ?? '';
  const whole = async (): Promise<string> => {
    const id = await begin();
    await imports.upload({ id, data: new Uint8Array(1) });
    return id;
  };
  return { imports, until, begin, whole };
}

it('one is checked at a time, the others wait in the order of time', async () => {
  await run();
  const [one, two] = [await newProject(), await newProject()];
  const first = await one.whole();
  await one.until((found) => found?.state === ImportState.CHECKING);
  await two.whole();
  await two.until((found) => found?.state === ImportState.CHECKING && found.queuePlace === 1);
  await one.imports.cancel({ id: first });
  await one.until((found) => found?.state === ImportState.CANCELED);
  await two.until((found) => found?.state === ImportState.CHECKING && found.queuePlace === 0);
});

it('a file that nobody goes on with for a day is removed, and the import says so', async () => {
  const { until, begin } = await newProject();
  await begin(2n);
  aheadMs = dayMs - 60_000;
  await run();
  await until((found) => found?.state === ImportState.UPLOADING);
  await runner?.stop();
  aheadMs = dayMs + 60_000;
  await run();
  const ended = await until((found) => found?.state === ImportState.CANCELED);
  expect(ended?.fault).toBe('nobody went on with it for a day');
  expect(readdirSync(join(accounts.dataDir, 'imports', 'live'))).toEqual([]);
});

it('the instance holds a bounded number of files, and none beyond the reserve of its disk', async () => {
  for (let n = 0; n < maxLiveImports; n++) await (await newProject()).begin();
  const full = await newProject();
  await expect(full.begin()).rejects.toMatchObject({
    code: Code.ResourceExhausted,
    rawMessage: 'this instance holds 16 files that are not imported yet: try again later',
  });
  settings.reserveBytes = 2 ** 50;
  await expect(full.begin()).rejects.toMatchObject({
    code: Code.ResourceExhausted,
    rawMessage: 'the disk has no room for the file beside its reserve (MILLRACE_DISK_RESERVE_MIB)',
  });
  const before = await newProject();
  settings.reserveBytes = 0;
  const files = new ImportFiles(accounts.dataDir);
  await files.remove((await files.liveProjects())[0] ?? '');
  const id = await before.begin();
  settings.reserveBytes = 2 ** 50;
  const part = before.imports.upload({ id, data: new Uint8Array(1) });
  await expect(part).rejects.toMatchObject({ code: Code.ResourceExhausted });
});

it('where the operator takes none, the list says so, and those under way end', async () => {
  const { imports, until, begin } = await newProject();
  const id = await begin();
  settings.refusal = 'none here';
  expect(await imports.list({})).toMatchObject({ refusal: 'none here' });
  for (const refused of [
    imports.create({ fileName: 'a', bytes: 1n }),
    imports.upload({ id, data: new Uint8Array(1) }),
    imports.start({ id }),
  ]) {
    await expect(refused).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: 'none here',
    });
  }
  await run('none here');
  expect((await until((found) => found?.state === ImportState.CANCELED))?.fault).toBe('none here');
});

it('a part has at most 512 KiB, a name no line break, and an option is its family’s', async () => {
  const { imports, begin } = await newProject();
  const id = await begin(1_000_000n);
  const invalid = (rule: string) => ({
    code: Code.InvalidArgument,
    rawMessage: expect.stringContaining(rule),
  });
  await expect(imports.upload({ id, data: new Uint8Array(524_289) })).rejects.toMatchObject(
    invalid('data: takes at most 524288 bytes'),
  );
  await imports.upload({ id, data: new Uint8Array(524_288) });
  const long = imports.upload({ id, offset: 524_288n, data: new Uint8Array(500_000) });
  await expect(long).rejects.toMatchObject(invalid('data: ends behind'));
  const file = { fileName: 'a', bytes: 1n };
  const refused: [object, string][] = [
    [{ ...file, fileName: 'a\nb' }, 'fileName: must have no control characters'],
    [{ ...file, bytes: 0n }, 'bytes: must be from 1'],
    [
      { ...file, family: 'posthog', options: { timezone: 'UTC' } },
      'options.timezone: is for mixpanel',
    ],
    [{ ...file, options: { timezone: 'Nowhere' } }, 'options.timezone'],
    [{ ...file, family: 'umami', options: { hostname: 'a' } }, 'options: hostname and clientField'],
  ];
  for (const [request, rule] of refused) {
    await expect(imports.create(request)).rejects.toMatchObject(invalid(rule));
  }
});

it('an address that is not proven makes no import', async () => {
  const facing = { MILLRACE_PUBLIC_URL: 'https://events.example.org', MILLRACE_SIGNUP: 'open' };
  const others = await startAccounts({ brokerUrl: broker.url, env: facing });
  try {
    const stranger = await newCustomer(others);
    const { imports } = others.as(bearer(stranger, stranger.projectId));
    await expect(imports.create({ fileName: 'a', bytes: 1n })).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: expect.stringContaining('not proven yet'),
    });
  } finally {
    await others.close();
  }
});
