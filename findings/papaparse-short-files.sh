#!/usr/bin/env bash
# Files of two columns with semicolons or tabs and a last line break, whose delimiter papaparse 5.7.1 finds by itself.
# Guess: a delimiter that divides every line in two is found, in a short file as in a long one.
# Seen: at two to nine lines with a last line break it is not: the line break counts as a line of one field, so that the
# mean is below 1.99 fields, and the comma is taken. The rows are objects with one property, "day;visits"; where amounts
# have a decimal comma, they are cut there. Ten lines, three columns, no last line break, or skipEmptyLines mend it. The
# error UndetectableDelimiter is in `errors`, which is also what a file of one column has.
# So an import works with the file of a month and fails with the file of a week: give the delimiter, or skip empty
# lines.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund papaparse@5.7.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import Papa from 'papaparse';
const file = (lines, { delimiter = ';', columns = ['day', 'visits'], end = '\n' } = {}) => {
  const rows = Array.from({ length: lines - 1 }, (_, day) => columns.map((_, place) => day + place));
  return [columns, ...rows].map((row) => row.join(delimiter)).join('\n') + end;
};
const columnsOf = (text, options) => Papa.parse(text, { header: true, ...options }).meta.fields.join(' and ');
const seen = {
  'day;visits at 2 to 9 lines': [2, 3, 4, 5, 6, 7, 8, 9].every((lines) => columnsOf(file(lines)) === 'day;visits'),
  '9 lines, tabs': columnsOf(file(9, { delimiter: '\t' })),
  '9 lines, commas': columnsOf(file(9, { delimiter: ',' })),
  '9 lines, no last line break': columnsOf(file(9, { end: '' })),
  '9 lines, skipEmptyLines': columnsOf(file(9), { skipEmptyLines: true }),
  '9 lines, three columns': columnsOf(file(9, { columns: ['day', 'visits', 'views'] })),
  '10 lines': columnsOf(file(10)),
};
const errorOf = (text) => Papa.parse(text, { header: true }).errors[0]?.code;
const errors = {
  '9 lines': errorOf(file(9)),
  'one column': errorOf(file(9, { columns: ['day'] })),
  '10 lines': errorOf(file(10)),
};
const [amount] = Papa.parse('day;amount\n1;2,50\n', { header: true }).data;
console.log('papaparse 5.7.1:', seen, errors, amount);
assert.deepStrictEqual(seen, {
  'day;visits at 2 to 9 lines': true,
  '9 lines, tabs': 'day\tvisits',
  '9 lines, commas': 'day and visits',
  '9 lines, no last line break': 'day and visits',
  '9 lines, skipEmptyLines': 'day and visits',
  '9 lines, three columns': 'day and visits and views',
  '10 lines': 'day and visits',
});
assert.deepStrictEqual(errors, {
  '9 lines': 'UndetectableDelimiter',
  'one column': 'UndetectableDelimiter',
  '10 lines': 'TooFewFields',
});
assert.deepStrictEqual(amount, { 'day;amount': '1;2', __parsed_extra: ['50'] });
NODE
timeout 30 node run.mjs
