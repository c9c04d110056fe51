// Files in each form and packing, as an import reads their rows.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { inputRows } from '../../test/harness/history/input-rows.ts';
import { hasTestData, testData } from '../../test/harness/test-data.ts';
import { readJsonItems } from './json-values.ts';
import { maxLineBytes } from './lines.ts';
import { openInputs } from './open-input.ts';
import type { Form } from './rows.ts';
import { UnreadableFile } from './unreadable-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'millrace-files-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function written(name: string, content: string | Buffer): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

const values = async (path: string, form: Form): Promise<unknown[]> =>
  (await inputRows(path, form)).map(({ value }) => value);

describe('lines', () => {
  it('of a gzip with a member for each line are all read, whatever the name', async () => {
    const members = [1, 2, 3].map((n) => gzipSync(`{"n":${n}}\n`));
    const path = written('members.jsonl', Buffer.concat(members));
    expect(await values(path, 'json lines')).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it('of a zip come from its files, packed or not, gzipped inside or not, in the order of names', async () => {
    const zip = zipOf([
      { name: 'p/b.json', content: Buffer.from('{"n":2}\n'), isDeflated: true },
      { name: 'p/', content: Buffer.alloc(0), isDeflated: false },
      { name: 'p/a.json.gz', content: gzipSync('{"n":1}'), isDeflated: false },
    ]);
    const path = written('export.json.gz', zip);
    expect(await values(path, 'json lines')).toEqual([{ n: 1 }, { n: 2 }]);
    await expect(values(written('cut.zip', zip.subarray(0, -30)), 'json lines')).rejects.toThrow(
      'is no whole zip of less than 4 GiB: unpack it',
    );
  });

  it('that are no JSON are rows with their problem and number', async () => {
    const path = written('bad.jsonl', '{"n":1}\r\n\n{"n":\nterminated early');
    expect(await inputRows(path, 'json lines')).toEqual([
      { number: 1, value: { n: 1 } },
      { number: 3, value: undefined, problem: 'row_json' },
      { number: 4, value: undefined, problem: 'row_json' },
    ]);
  });

  it('between tabs keep their empty columns', async () => {
    expect(await values(written('a.tsv', 'a\t\tb\t\n'), 'tabs')).toEqual([['a', '', 'b', '']]);
  });
});

it('a CSV has quotes, commas and line breaks in its values, and rows of another length', async () => {
  const text = 'a,b,c\n1,"x, ""y""",\n"two\nlines",,3\n4,5\n"open';
  expect(await inputRows(written('a.csv', text), 'csv')).toEqual([
    { number: 2, value: { a: '1', b: 'x, "y"', c: '' } },
    { number: 3, value: { a: 'two\nlines', b: '', c: '3' } },
    { number: 5, value: undefined, problem: 'row_columns' },
    { number: 6, value: undefined, problem: 'row_quote' },
  ]);
});

it('a CSV whose quote is not closed loses what fits into one row', async () => {
  const rows = 400_000;
  const text = `a,b\n1,"open\n${'"",2\n'.repeat(rows)}`;
  const read = await inputRows(written('open.csv', text), 'csv');
  expect(read[0]).toEqual({ number: 2, value: undefined, problem: 'row_quote' });
  // The next row is the first behind the most that a row may have.
  expect(read.at(-1)).toEqual({ number: rows + 2, value: { a: '', b: '2' } });
  expect(read.length).toBeLessThan(rows);
});

it('a JSON list gives its items, however it is broken into lines', async () => {
  const items = [{ a: '}]"\\', b: [1, { c: [] }] }, { d: '[' }, [5]];
  for (const text of [JSON.stringify(items), JSON.stringify(items, null, 1)]) {
    expect(await values(written('list.json', text), 'json list')).toEqual(items);
  }
  await expect(values(written('cut.json', '[{"a":1},{'), 'json list')).rejects.toThrow(
    'the list does not end',
  );
});

it.each([
  ['a notice before it', 'Warning: [x\n\n[{"n":1}]\n', [1, 'row_json'], [3, { n: 1 }]],
  ['a notice behind it', '[{"n":1}]\nNotice: [\n', [1, { n: 1 }], [2, 'row_json']],
  ['a text behind it on its line', '[{"n":1}] x', [1, { n: 1 }], [1, 'row_json']],
  ['an object around it', '{"2026-03-01":[{"n":1}]}', [1, 'row_json']],
  ['an error in its place', '{"result":"error"}', [1, 'row_json']],
])('a JSON list with %s is told, and read as far as it is one', async (_, text, ...told) => {
  const rows = await inputRows(written('told.json', text), 'json list');
  expect(rows.map(({ number, problem, value }) => [number, problem ?? value])).toEqual(told);
});

it('a JSON list is read to its end where all of it is one line, and however its bytes come', async () => {
  const long = [{ a: 'x'.repeat(maxLineBytes / 2) }, { b: 'y'.repeat(maxLineBytes / 2) }, { c: 1 }];
  expect(await values(written('line.json', JSON.stringify(long)), 'json list')).toEqual(long);
  const text = '\ufeff[\n{"a":"\\\\\\"]ü"},\n{"b":[1]}\n]';
  async function* single() {
    for (const byte of Buffer.from(text)) yield Buffer.of(byte);
  }
  const items: unknown[] = [];
  for await (const item of readJsonItems(single())) items.push(item);
  expect(items).toEqual([
    { number: 2, text: '{"a":"\\\\\\"]ü"}' },
    { number: 3, text: '{"b":[1]}' },
  ]);
});

it('a folder gives its files in the order of names, without those that begin with a point', async () => {
  mkdirSync(join(directory, 'days/2'), { recursive: true });
  mkdirSync(join(directory, 'days/.git'));
  for (const name of ['days/2/a', 'days/1', 'days/.hidden', 'days/.git/a']) written(name, '{}');
  const names = (await openInputs([join(directory, 'days')])).map(({ name }) => name);
  expect(names).toEqual([join(directory, 'days/1'), join(directory, 'days/2/a')]);
});

it('a zip gives no file that a system put into it', async () => {
  const names = ['a/b.json', '__MACOSX/a/._b.json', 'a/.DS_Store', './.c', './d.json', '../e.json'];
  const files = names.map((name) => ({ name, content: Buffer.from('{}'), isDeflated: true }));
  const path = written('system.zip', zipOf(files));
  const read = (await openInputs([path])).map(({ name }) => name.slice(`${path}: `.length));
  expect(read.toSorted()).toEqual(['../e.json', './d.json', 'a/b.json']);
});

const parquet = Buffer.from('PAR1 and more');

it.each([
  ['Parquet in a gzip', gzipSync(parquet), 'is Parquet, which is read as a file of its own'],
  [
    'Parquet in a zip',
    zipOf([{ name: 'p', content: parquet, isDeflated: true }]),
    ': p is Parquet, which is read as a file of its own',
  ],
  ['a gzip in a gzip', gzipSync(gzipSync('{}')), 'is gzipped twice'],
  ['Parquet without its end', parquet, 'is no whole Parquet file'],
  ['UTF-16', Buffer.from('\ufeff{}', 'utf16le'), 'is in UTF-16, as PowerShell writes'],
])('%s is refused in a sentence', async (_, content, why) => {
  const read = values(written('odd', content), 'json lines');
  await expect(read).rejects.toThrow(UnreadableFile);
  await expect(read).rejects.toThrow(why);
});

it('a line that is too long says so, of whatever characters it is made', async () => {
  const line = JSON.stringify('ü'.repeat(maxLineBytes / 2));
  const rows = await inputRows(written('long.jsonl', `${line}\n1\n`), 'json lines');
  expect(rows.map(({ problem }) => problem)).toEqual(['row_length', undefined]);
});

it.each([
  ['28b52ffd00', 'is packed by zstd'],
  ['04224d1800', 'is packed by lz4'],
])('a file that begins with %s %s', async (magic, why) => {
  await expect(openInputs([written('packed', Buffer.from(magic, 'hex'))])).rejects.toThrow(why);
});

it.runIf(hasTestData)('Parquet gives the rows that JSON lines have', async () => {
  const [first] = await values(testData('history', 'ga4-events.parquet'), 'json lines');
  expect(first).toMatchObject({
    ...{ event_timestamp: '1772615700123456', event_name: 'page_view' },
    event_params: [{ key: 'ga_session_id', value: { int_value: '1772615699' } }, {}],
  });
  expect(first).not.toHaveProperty('user_id');
  const rows = await values(testData('history', 'posthog-batch.parquet'), 'json lines');
  expect(rows).toHaveLength(3);
  expect(rows[1]).toMatchObject({ timestamp: '2026-03-04T09:15:37.000Z' });
});

interface ZipFile {
  name: string;
  content: Buffer;
  isDeflated: boolean;
}

function zipOf(files: readonly ZipFile[]): Buffer {
  const parts: Buffer[] = [];
  const directories: Buffer[] = [];
  let offset = 0;
  for (const { name, content, isDeflated } of files) {
    const data = isDeflated ? deflateRawSync(content) : content;
    const header = Buffer.alloc(30);
    header.writeUInt32LE(0x04034b50);
    header.writeUInt16LE(name.length, 26);
    // A local header may have extra fields that the directory lacks.
    header.writeUInt16LE(4, 28);
    parts.push(header, Buffer.from(name), Buffer.alloc(4), data);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50);
    entry.writeUInt16LE(isDeflated ? 8 : 0, 10);
    entry.writeUInt32LE(data.length, 20);
    entry.writeUInt32LE(content.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    directories.push(entry, Buffer.from(name));
    offset += header.length + name.length + 4 + data.length;
  }
  const list = Buffer.concat(directories);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, list, end, Buffer.alloc(0)]);
}
