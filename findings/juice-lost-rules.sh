#!/usr/bin/env bash
# Rules of a mail's stylesheet that no element can carry, after juice 11.1.1 has put the stylesheet into the elements.
# Guess: what cannot be inlined stays in the <style> element: @media, :hover and @font-face do, so @supports, @layer and
# ::before do too. A nested rule stays, or is taken apart.
# Seen: @media, :hover and @font-face stay; @supports, @layer, @container and ::before are gone, without a word. One nested
# rule anywhere raises a TypeError for the whole mail.
# So a mail keeps such rules in a <style data-embed> of their own, which is left as it is.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund juice@11.1.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import juice from 'juice';
const rules = {
  '@media': '@media (prefers-color-scheme: dark) { p { color: #eee !important } }',
  ':hover': 'p:hover { color: blue }',
  '@font-face': '@font-face { font-family: Chart; src: url(chart.woff2) }',
  '@supports': '@supports (display: grid) { p { display: grid } }',
  '@layer': '@layer base { p { margin: 0 } }',
  '@container': '@container (width > 20em) { p { padding: 1em } }',
  '::before': 'p::before { content: "+" }',
  nested: 'p { & b { color: red } }',
};
const inlined = (rule, attribute) => {
  const page = `<html><head><style${attribute}>${rule}</style></head><body><p>12 <b>%</b></p></body></html>`;
  try {
    const mail = juice(page);
    return mail.includes('<style') || mail.includes('style="') ? 'stays' : 'gone';
  } catch (error) {
    return error.name;
  }
};
const seen = {};
for (const [name, rule] of Object.entries(rules)) seen[name] = [inlined(rule, ''), inlined(rule, ' data-embed')];
console.log('juice 11.1.1, in a stylesheet, and in one with data-embed:', seen);
assert.deepStrictEqual(seen, {
  '@media': ['stays', 'stays'],
  ':hover': ['stays', 'stays'],
  '@font-face': ['stays', 'stays'],
  '@supports': ['gone', 'stays'],
  '@layer': ['gone', 'stays'],
  '@container': ['gone', 'stays'],
  '::before': ['gone', 'stays'],
  nested: ['TypeError', 'stays'],
});
NODE
timeout 60 node run.mjs
