#!/usr/bin/env bash
# Numbers without a sign that ClickHouse 26.7 (chdb 3.4.0) writes to a file of Avro, read by avsc 5.7.9.
# Guess: Avro has no unsigned types, so what needs 32 bits is a long, which holds it, and a DateTime says with a logical
# type that it is a time; what does not fit a long is an error.
# Seen: both keep their width: the upper half of UInt32 and UInt64 is negative, without a word. So are addresses from
# 128.0.0.0 on, half of all checksums, and each DateTime from 2038 on, which is an int of seconds without a logical
# type. ClickHouse reads its own file wrong too, unless it is told the types again.
# So cast to Int64, or to text, before the export.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund chdb@3.4.0 avsc@5.7.9 >/dev/null
cat > run.cjs <<'NODE'
const assert = require('node:assert');
const avro = require('avsc');
const { query } = require('chdb');
const columns = {
  bits16: 'toUInt16(65535)',
  bits32: 'toUInt32(3000000000)',
  bits64: "toUInt64('18446744073709551615')",
  address: "toIPv4('192.168.0.1')",
  checksum: "CRC32('visitor')",
  renewal: "toDateTime('2040-01-01 00:00:00', 'UTC')",
  cast: 'toInt64(toUInt32(3000000000))',
};
const names = Object.keys(columns);
const file = `${process.cwd()}/numbers.avro`;
const table = `SELECT ${names.map((name) => `${columns[name]} AS ${name}`)}`;
query(`INSERT INTO FUNCTION file('${file}', 'Avro') SETTINGS output_format_avro_codec = 'deflate' ${table}`);
const rowOf = (sql) => query(sql, 'TabSeparated').trim().split('\t');
const written = rowOf(`SELECT toString(bits32), toString(bits64) FROM (${table})`);
const readBack = rowOf(`SELECT bits32, bits64 FROM file('${file}', 'Avro')`);
const told = rowOf(`SELECT bits32, bits64 FROM file('${file}', 'Avro', 'bits32 UInt32, bits64 UInt64')`);
let types;
const decoder = avro.createFileDecoder(file);
decoder.on('metadata', (type) => {
  types = Object.fromEntries(type.fields.map((field) => [field.name, JSON.stringify(field.type)]));
});
decoder.on('data', (row) => {
  const seen = Object.fromEntries(names.map((name) => [name, `${columns[name]}, ${types[name]}: ${row[name]}`]));
  const version = rowOf('SELECT version()')[0];
  console.log(`ClickHouse ${version} to avsc 5.7.9:`, seen, 'and to itself:', { written, readBack, told });
  assert.strictEqual(version, '26.7.2.1');
  assert.deepStrictEqual(types, {
    bits16: '"int"',
    bits32: '"int"',
    bits64: '"long"',
    address: '"int"',
    checksum: '"int"',
    renewal: '"int"',
    cast: '"long"',
  });
  assert.deepStrictEqual({ ...row }, {
    bits16: 65_535,
    bits32: -1_294_967_296,
    bits64: -1,
    address: -1_062_731_775,
    checksum: -890_904_161,
    renewal: -2_085_978_496,
    cast: 3_000_000_000,
  });
  assert.deepStrictEqual(written, ['3000000000', '18446744073709551615']);
  assert.deepStrictEqual(readBack, ['-1294967296', '-1']);
  assert.deepStrictEqual(told, written);
  process.exitCode = 0;
});
process.exitCode = 1;
NODE
timeout 60 node run.cjs
