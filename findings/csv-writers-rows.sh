#!/usr/bin/env bash
# One row of an export, written by csv-stringify 6.9.0, papaparse 5.7.1, fast-csv 5.0.8 and d3-dsv 3.0.2 (in Berlin's time).
# Guess: they differ in quotes and line ends alone: false is "false", a Date is its ISO text, an object is JSON.
# Seen: csv-stringify writes true as 1 and false as nothing, which is what null is; a Date as milliseconds. fast-csv writes a
# Date as the machine's own words for its local time, and drops its milliseconds; d3-dsv drops the time of each midnight in
# UTC, so that one column has two forms. An object is [object Object] for all but csv-stringify.
# So a share of `false` is lost by one writer, times by another; cast each value to text before it is written.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund csv-stringify@6.9.0 papaparse@5.7.1 fast-csv@5.0.8 d3-dsv@3.0.2 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { stringify } from 'csv-stringify/sync';
import { csvFormatBody } from 'd3-dsv';
import { writeToString } from 'fast-csv';
import Papa from 'papaparse';
const row = [true, false, null, new Date('2026-01-01T00:00:00Z'), new Date('2026-01-01T10:00:00.5Z'), { plan: 'pro' }];
const seen = {
  'csv-stringify': stringify([row]).trim(),
  papaparse: Papa.unparse([row]).trim(),
  'fast-csv': await writeToString([row]),
  'd3-dsv': csvFormatBody([row]),
};
console.log('true, false, null, a midnight, a morning, an object:', seen);
assert.deepStrictEqual(seen, {
  'csv-stringify': '1,,,1767225600000,1767261600500,"{""plan"":""pro""}"',
  papaparse: 'true,false,,2026-01-01T00:00:00.000Z,2026-01-01T10:00:00.500Z,[object Object]',
  'fast-csv': [
    'true,false,',
    'Thu Jan 01 2026 01:00:00 GMT+0100 (Central European Standard Time)',
    'Thu Jan 01 2026 11:00:00 GMT+0100 (Central European Standard Time)',
    '[object Object]',
  ].join(','),
  'd3-dsv': 'true,false,,2026-01-01,2026-01-01T10:00:00.500Z,[object Object]',
});
NODE
TZ=Europe/Berlin LC_ALL=C timeout 30 node run.mjs
