// Files of history that somebody brings by a page, in the built product: checked, imported, canceled, refused; and an
// import whose service is killed in its middle.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../demo/sending/client.ts';
import { eventually, rows } from './harness/clients/client.ts';
import { type ImportClient, importClient } from './harness/clients/import-client.ts';
import { removeFolder } from './harness/remove-folder.ts';
import { killService, type Stack, startStack } from './harness/servers/stack.ts';

const uuid = (n: number): string => `0195612a-7c10-7a31-9c55-${String(n).padStart(12, '0')}`;
const line = (n: number, more: object = {}): string =>
  JSON.stringify({
    ...{ uuid: uuid(n), event: 'brought', distinct_id: `person-${n % 50}` },
    timestamp: new Date(Date.UTC(2023, 0, 1) + 60_000 * n).toISOString(),
    ...{ properties: { plan: 'pro' }, ...more },
  });
const fileOf = (lines: readonly string[]): Buffer =>
  Buffer.from(lines.map((one) => `${one}\n`).join(''));
const liveIn = ({ dataDir, projectId }: Stack): string =>
  join(dataDir, 'imports', 'live', projectId);

/** Stored events of the kind, and the ids among them: exact, as the table has them. */
async function storedOf({ clickhouseUrl, projectId }: Stack, kind: string) {
  const where = `project_id = '${projectId}' AND kind = '${kind}'`;
  const sql = `SELECT count() AS events, uniqExact(event_id) AS ids FROM events WHERE ${where}`;
  const [row] = await rows<{ events: number; ids: number }>(clickhouseUrl, sql);
  return row ?? { events: 0, ids: 0 };
}

async function keyNames(client: ImportClient): Promise<string> {
  const { apiKeys } = await client.ask('ListApiKeys', {}, 'dashboard.projects.v1.ProjectsService');
  return JSON.stringify(apiKeys);
}

describe('an uploaded file', () => {
  let stack: Stack;
  let client: ImportClient;
  beforeAll(async () => {
    stack = await startStack();
    client = await importClient(stack);
  });
  afterAll(() => stack.stop());

  it('tells its family, is checked without storing anything, and imported when a person says so', async () => {
    const content = fileOf([
      ...[line(1), line(2, { event: '$pageview' }), '{"uuid": 3, '],
      line(4, { timestamp: '2031-01-01T00:00:00+00:00' }),
      line(5, { event: 'purchase', properties: { amount: -1, currency: 'EUR' } }),
    ]);
    const id = await client.upload('history.jsonl.gz', gzipSync(content));
    const checked = await client.until(id, 'IMPORT_STATE_CHECKED');
    expect(checked).toMatchObject({ family: 'posthog', fileName: 'history.jsonl.gz' });
    const { report } = checked;
    expect(report).toMatchObject({ rows: '5', events: '3', people: '3' });
    expect(report).toMatchObject({
      months: [
        {
          month: '2023-01',
          kinds: ['brought', 'page_view', 'purchase_unchecked'].map((kind) => ({
            kind,
            events: '1',
          })),
        },
      ],
    });
    const refusals = JSON.stringify(Object(report).refusals);
    expect(refusals).toContain('"first":["history.jsonl.gz:3"]');
    expect(refusals).toContain('occurTime must be at most 48 hours after receipt');
    expect(refusals).toMatch(/amount.*"isKept":true,.*"first":\["history.jsonl.gz:5"\]/);
    expect(refusals).not.toContain(stack.dataDir);
    expect(await storedOf(stack, 'brought')).toEqual({ events: 0, ids: 0 });
    await expect(client.ask('Create', { fileName: 'other', bytes: 1 })).rejects.toThrow(
      /already_exists: another import of this project is under way/,
    );
    await client.ask('Start', { id });
    const done = await client.until(id, 'IMPORT_STATE_DONE');
    expect(done['result']).toMatchObject({ events: '3', sent: '3' });
    await eventually(
      () => storedOf(stack, 'brought'),
      ({ events }) => events === 1,
    );
    expect(existsSync(liveIn(stack))).toBe(false);
    expect(await keyNames(client)).not.toContain('Import');
    // Again: nothing twice, and the file that has ended stays in the list.
    const again = await client.upload('again.jsonl', content);
    await client.until(again, 'IMPORT_STATE_CHECKED');
    await client.ask('Start', { id: again });
    const second = await client.until(again, 'IMPORT_STATE_DONE');
    expect(second['result']).toMatchObject({ events: '3', stored: '3' });
    expect(Object(second['result']).sent).toBeUndefined();
    expect((await client.list()).map((one) => one['id'])).toEqual([again, id]);
  });

  it.each([
    [
      'a picture.png',
      Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
      {},
      /a picture\.png is in no format/,
    ],
    ['broken.gz', gzipSync(fileOf([line(1)])).subarray(0, 60), {}, /cannot be read to its end/],
    ['bad.zip', Buffer.from('504b030400000000', 'hex'), {}, /^bad\.zip is no whole zip/],
    [
      'imported_visitors_20260301_20260304.csv',
      fileOf([
        '"date","visitors","pageviews","bounces","visits","visit_duration"',
        '"2026-03-03",12,31,5,14,1',
      ]),
      {},
      /^Plausible exports sums of each day, and no events can be made of sums: import the access log/,
    ],
    ['empty.jsonl', Buffer.from('\n'), { family: 'posthog' }, /no event was taken/],
  ])('%s fails, and says why', async (name, content, more, why) => {
    const id = await client.upload(name, content, more);
    const ended = await client.until(id, 'IMPORT_STATE_FAILED');
    expect(ended['fault']).toMatch(why);
    expect(String(ended['fault'])).not.toContain(stack.dataDir);
    expect(existsSync(liveIn(stack))).toBe(false);
  });

  it('is refused before it is read where it is too long, and part by part where it is not as announced', async () => {
    await expect(client.ask('Create', { fileName: 'x', bytes: 2 ** 31 + 1 })).rejects.toThrow(
      /invalid_argument: bytes: must be from 1 to 2147483648 \(2 GiB\)/,
    );
    await expect(
      client.ask('Create', { fileName: 'x', bytes: 1, family: 'plausible' }),
    ).rejects.toThrow(/invalid_argument: family: must be empty or one of millrace, posthog/);
    const made = await client.ask('Create', { fileName: 'x', bytes: 4 });
    const { id } = Object(made['import']);
    const part = (offset: number, text: string) =>
      client.ask('Upload', { id, offset, data: Buffer.from(text).toString('base64') });
    await expect(part(0, 'abcde')).rejects.toThrow(/data: ends behind the 4 bytes/);
    await part(0, 'ab');
    await expect(part(0, 'ab')).rejects.toThrow(/failed_precondition: offset: must be 2/);
    await expect(client.ask('Start', { id })).rejects.toThrow(/only a file that was checked/);
    await client.ask('Cancel', { id });
    expect(await client.until(id, 'IMPORT_STATE_CANCELED')).toMatchObject({ uploadedBytes: '2' });
    await expect(part(2, 'cd')).rejects.toThrow(/not_found/);
    expect(existsSync(liveIn(stack))).toBe(false);
  });
});

describe('an import whose service is killed', () => {
  it('goes on by itself, and stores each event once', async () => {
    const count = 40_000;
    // The run that is killed would take longer than any machine needs to store its first events.
    const slow = { MILLRACE_EVENTS_PER_SECOND: '500', MILLRACE_EVENTS_BURST: '1000' };
    // The process that takes the file is another one than the process that reads it.
    const args = ['--ingest', '2'];
    const killed = await startStack({ env: slow, args });
    const { dataDir } = killed;
    let stack = killed;
    try {
      const before = await importClient(stack);
      const content = fileOf(Array.from({ length: count }, (_, n) => line(n)));
      const id = await before.upload('long.jsonl.gz', gzipSync(content), { family: 'posthog' });
      await before.until(id, 'IMPORT_STATE_CHECKED');
      await before.ask('Start', { id });
      await eventually(
        () => storedOf(stack, 'brought'),
        ({ events }) => events > 0,
      );
      expect(await before.list()).toMatchObject([{ id, state: 'IMPORT_STATE_IMPORTING' }]);
      await killService(stack);
      stack = await startStack({ args, dataDir });
      const after = await importClient(stack);
      const { result } = await after.until(id, 'IMPORT_STATE_DONE');
      expect(Number(Object(result).events)).toBe(count);
      expect(Number(Object(result).stored)).toBeGreaterThan(0);
      const http = createClient({ baseUrl: stack.baseUrl, connections: 1 });
      const range = { from: '2023-01-01T00:00:00Z', to: '2023-03-01T00:00:00Z' };
      await eventually(
        () => http.countEvents('brought', range, stack.privateKey),
        (events) => events >= count,
      );
      await http.close();
      expect(await storedOf(stack, 'brought')).toEqual({ events: count, ids: count });
      expect(readdirSync(join(stack.dataDir, 'imports', 'live'))).toEqual([]);
      expect(await keyNames(after)).not.toContain('Import');
    } finally {
      await stack.stop();
      await removeFolder(dataDir);
    }
  });
});
