// The formats of answers that a statement may name, with their content types: those that only write. Formats that take
// their form from a file, a statement or a server are not among them.

const text = 'text/tab-separated-values; charset=UTF-8';
const csv = 'text/csv; charset=UTF-8; header=absent';
const json = 'application/json; charset=UTF-8';
const lines = 'application/x-ndjson; charset=UTF-8';
const plain = 'text/plain; charset=UTF-8';
const binary = 'application/octet-stream';

const groups: readonly [type: string, names: string][] = [
  [
    text,
    'TabSeparated TSV TabSeparatedRaw TSVRaw TabSeparatedWithNames TSVWithNames TabSeparatedRawWithNames ' +
      'TSVRawWithNames TabSeparatedWithNamesAndTypes TSVWithNamesAndTypes TSKV',
  ],
  [csv, 'CSV'],
  ['text/csv; charset=UTF-8; header=present', 'CSVWithNames CSVWithNamesAndTypes'],
  [json, 'JSON JSONStrings JSONCompact JSONCompactStrings JSONColumns JSONColumnsWithMetadata'],
  [json, 'JSONCompactColumns JSONObjectEachRow'],
  [
    lines,
    'JSONEachRow JSONLines NDJSON JSONStringsEachRow JSONCompactEachRow JSONCompactEachRowWithNames ' +
      'JSONCompactEachRowWithNamesAndTypes JSONCompactStringsEachRow JSONCompactStringsEachRowWithNames ' +
      'JSONCompactStringsEachRowWithNamesAndTypes JSONEachRowWithProgress JSONStringsEachRowWithProgress',
  ],
  [
    plain,
    'Pretty PrettyCompact PrettySpace PrettyNoEscapes PrettyCompactNoEscapes PrettyCompactMonoBlock Vertical Values',
  ],
  ['text/markdown; charset=UTF-8', 'Markdown'],
  ['application/xml; charset=UTF-8', 'XML'],
  [
    binary,
    'Native RowBinary RowBinaryWithNames RowBinaryWithNamesAndTypes Parquet Arrow ArrowStream MsgPack ODBCDriver2',
  ],
];

/** The content type of each format's answer, by its name. */
export const answerFormats: ReadonlyMap<string, string> = new Map(
  groups.flatMap(([type, names]) => names.split(' ').map((name): [string, string] => [name, type])),
);
