#!/usr/bin/env bash
# A JavaScript Date as a query parameter of @clickhouse/client 1.23.1, given to ClickHouse 26.7 (chdb 3.4.0).
# Guess: a Date fits each type of time: DateTime drops the milliseconds, Date the time of day, and the past is as good
# as now.
# Seen: milliseconds make DateTime refuse it, as new Date() has them 999 times of 1,000; with none it passes. Date, and
# an array of DateTime64 too, refuse it. A moment before 1970 is another one, without an error: its minus is written
# among padding zeros, "0000-50400.123", which DateTime64 takes for the first second of 1970; with more digits the
# milliseconds count the wrong way.
# So a test with a round time passes and the product fails; and a filter by birthday finds others. Give texts in UTC.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund chdb@3.4.0 @clickhouse/client@1.23.1 >/dev/null
cat > run.cjs <<'NODE'
const assert = require('node:assert');
const { createServer } = require('node:http');
const { createClient } = require('@clickhouse/client');
const { Session } = require('chdb');
const session = new Session('./data');
let sent;
const server = createServer((request, response) => {
  sent = new URL(request.url, 'http://localhost').searchParams.get('param_moment');
  request.resume().on('end', () => response.end());
});
// The engine reads the parameter's text as it does from an HTTP request.
const received = async (type, value) => {
  const client = createClient({ url: `http://127.0.0.1:${server.address().port}` });
  await client.command({ query: `SELECT {moment:${type}}`, query_params: { moment: value } });
  await client.close();
  try {
    session.query(`SET param_moment = '${sent}'`);
    return session.query(`SELECT toString({moment:${type}})`, 'TabSeparatedRaw').trim();
  } catch (error) {
    return `${sent} is refused: ${/Code: \d+/.exec(String(error.message))?.[0]}`;
  }
};
const oldMoment = async (text) => {
  const answer = await received('DateTime64(3)', new Date(text));
  return `${sent} is ${answer}`;
};
const run = async () => {
  const moment = new Date('2026-01-01T10:00:00.123Z');
  const round = new Date('2026-01-01T10:00:00Z');
  const seen = {
    'DateTime64(3)': await received('DateTime64(3)', moment),
    DateTime: await received('DateTime', moment),
    'DateTime, no milliseconds': await received('DateTime', round),
    Date: await received('Date', round),
    'Array(DateTime64(3))': await received('Array(DateTime64(3))', [moment]),
    'DateTime64(3), 1969-12-31 10:00:00.123': await oldMoment('1969-12-31T10:00:00.123Z'),
    'DateTime64(3), 1960-01-01 10:00:00.123': await oldMoment('1960-01-01T10:00:00.123Z'),
  };
  console.log('@clickhouse/client 1.23.1 and', session.query('SELECT version()').trim(), seen);
  session.cleanup();
  server.close();
  assert.deepStrictEqual(seen, {
    'DateTime64(3)': '2026-01-01 10:00:00.123',
    DateTime: '1767261600.123 is refused: Code: 457',
    'DateTime, no milliseconds': '2026-01-01 10:00:00',
    Date: '1767261600 is refused: Code: 457',
    'Array(DateTime64(3))': '[1767261600.123] is refused: Code: 130',
    'DateTime64(3), 1969-12-31 10:00:00.123': '0000-50400.123 is 1970-01-01 00:00:00.123',
    'DateTime64(3), 1960-01-01 10:00:00.123': '-315583200.123 is 1960-01-01 09:59:59.877',
  });
};
server.listen(0, '127.0.0.1', () => run());
NODE
TZ=UTC timeout 90 node run.cjs
