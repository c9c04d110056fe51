#!/usr/bin/env bash
# The text of a report by mail, made from its HTML by convert() of html-to-text 10.0.1.
# Guess: cells of a table are apart, rows are lines, and what is hidden (the preview line of each mail) is left out.
# Seen: all cells of a table run together, without a space and across rows: 12 visits and 34 views are 1234. Hidden text is the
# first line. Only where the table is named in `selectors` as a dataTable there are columns.
# So the part for readers without HTML has wrong numbers, not ugly ones: name the format of tables, and skip what is hidden.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund html-to-text@10.0.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { convert } from 'html-to-text';
const rows = [['Page', 'Visits', 'Views'], ['/home', '12', '34'], ['/cart', '5', '6']];
const cells = rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('');
const html = `<div style="display:none">Preview</div><p>Your week</p><table>${cells}</table>`;
const seen = {
  'by default': convert(html).split('\n').filter(Boolean),
  dataTable: convert(html, { selectors: [{ selector: 'table', format: 'dataTable' }] }).split('\n').filter(Boolean),
};
console.log('html-to-text 10.0.1:', seen);
assert.deepStrictEqual(seen, {
  'by default': ['Preview', 'Your week', 'PageVisitsViews/home1234/cart56'],
  dataTable: ['Preview', 'Your week', 'Page    Visits   Views', '/home   12       34', '/cart   5        6'],
});
NODE
timeout 30 node run.mjs
