#!/usr/bin/env bash
# windowFunnel of ClickHouse 26.7 (chdb 3.4.0) where one event meets two steps, or two events have one second.
# Guess: a step needs an event of its own, later than the one of the step before; and order is that of the column of
# times.
# Seen: one event reaches every step that it meets: who has viewed one page has done "view, then view", and cart, then
# any event, then pay has two events. DateTime64 is refused, and within a second of DateTime order does not count: a
# payment 0.8 seconds before the cart is a conversion. 'strict_once' or 'strict_increase' mend the first, milliseconds
# as UInt64 and a window in milliseconds the second.
# So conversions to a repeated step, "came back", are near 100% by default, and clients that send in bursts convert
# backwards.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund chdb@3.4.0 >/dev/null
cat > run.cjs <<'NODE'
const assert = require('node:assert');
const { query } = require('chdb');
const ask = (sql) => {
  try {
    return query(sql, 'TabSeparated').trim();
  } catch (error) {
    return /Code: \d+/.exec(String(error.message))?.[0];
  }
};
const steps = (time, window, conditions, events) => {
  const rows = events.map(([name, second]) => `SELECT '${name}' AS name, toDateTime64(${second}, 3, 'UTC') AS time`);
  return ask(`SELECT windowFunnel(${window})(${time}, ${conditions}) FROM (${rows.join(' UNION ALL ')})`);
};
const [twice, view] = ["name = 'view', name = 'view'", [['view', 100]]];
const [any, both] = ["name = 'cart', 1, name = 'pay'", [['cart', 100], ['pay', 110]]];
const [sale, backwards] = ["name = 'cart', name = 'pay'", [['pay', 100.1], ['cart', 100.9]]];
const seen = {
  version: ask('SELECT version()'),
  'one view, two steps': steps('toDateTime(time)', '60', twice, view),
  "the same, 'strict_once'": steps('toDateTime(time)', "60, 'strict_once'", twice, view),
  "the same, 'strict_increase'": steps('toDateTime(time)', "60, 'strict_increase'", twice, view),
  'cart, any, pay of two events': steps('toDateTime(time)', '60', any, both),
  "two events, 'strict_once'": steps('toDateTime(time)', "60, 'strict_once'", any, both),
  "two events, 'strict_increase'": steps('toDateTime(time)', "60, 'strict_increase'", any, both),
  'pay 0.8 s before cart': steps('toDateTime(time)', '60', sale, backwards),
  'the same, DateTime64': steps('time', '60', sale, backwards),
  'the same, milliseconds': steps('toUInt64(toUnixTimestamp64Milli(time))', '60000', sale, backwards),
};
console.log('ClickHouse, the steps that were reached:', seen);
assert.deepStrictEqual(seen, {
  version: '26.7.2.1',
  'one view, two steps': '2',
  "the same, 'strict_once'": '1',
  "the same, 'strict_increase'": '1',
  'cart, any, pay of two events': '3',
  "two events, 'strict_once'": '2',
  "two events, 'strict_increase'": '2',
  'pay 0.8 s before cart': '2',
  'the same, DateTime64': 'Code: 43',
  'the same, milliseconds': '1',
});
NODE
timeout 60 node run.cjs
