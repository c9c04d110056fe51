#!/usr/bin/env bash
# Skewness and kurtosis of samples by skewSamp and kurtSamp of ClickHouse 26.7 (chdb 3.4.0), beside DuckDB 1.5.6 and
# simple-statistics 7.12.1: of 1, 2, 3, 4, 100, and the mean of 4,000 samples of ten waiting times (exponential, whose
# skewness is 2).
# Guess: the sample's form corrects the population's for what a small sample misses, as its reference says ("unbiased"),
# so that it is the larger one and the same as other programs'.
# Seen: it goes the other way: the population's form is too small by half, skewSamp is smaller still, and so is
# kurtSamp, which is no excess over 3 either. DuckDB and simple-statistics agree on the corrected form, twice skewSamp
# for the five numbers.
# So a rule like "skewed above 1" is met by one engine and not by the other on the same small sample: from skewPop and
# the number of rows n the corrected form is skewPop * sqrt(n * (n - 1)) / (n - 2).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
packages='chdb@3.4.0 @duckdb/node-api@1.5.6-r.1 simple-statistics@7.12.1'
timeout 300 npm install --silent --no-audit --no-fund $packages >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { writeFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
import chdb from 'chdb';
import { sampleKurtosis, sampleSkewness } from 'simple-statistics';
const connection = await (await DuckDBInstance.create()).connect();
const duck = async (sql) => (await connection.runAndReadAll(sql)).getRowsJson()[0].map(Number);
const clickHouse = (sql) => chdb.query(sql, 'TabSeparated').trim().split('\t').map(Number);
const round = (values) => values.map((value) => Number(value.toFixed(2)));
const values = [1, 2, 3, 4, 100];
let state = 1;
const random = () => {
  state = (state * 48_271) % 2_147_483_647;
  return state / 2_147_483_647;
};
const lines = Array.from({ length: 40_000 }, (_, index) => `${Math.floor(index / 10)},${-Math.log(random())}`);
writeFileSync('times.csv', `sample,wait\n${lines.join('\n')}\n`);
const file = `${process.cwd()}/times.csv`;
const samples = (form, source) => `SELECT avg(skew) FROM (SELECT ${form}(wait) AS skew FROM ${source} GROUP BY sample)`;
const table = `file('${file}', 'CSVWithNames')`;
const seen = {
  'skewPop, skewSamp': round(clickHouse(`SELECT skewPop(v), skewSamp(v) FROM (SELECT arrayJoin([${values}]) AS v)`)),
  'kurtPop, kurtSamp': round(clickHouse(`SELECT kurtPop(v), kurtSamp(v) FROM (SELECT arrayJoin([${values}]) AS v)`)),
  DuckDB: round(await duck(`SELECT skewness(v), kurtosis(v) FROM (SELECT unnest([${values}]) AS v)`)),
  'simple-statistics': round([sampleSkewness(values), sampleKurtosis(values)]),
  'mean of skewPop, skewSamp': round(['skewPop', 'skewSamp'].flatMap((form) => clickHouse(samples(form, table)))),
  'mean of DuckDB': round(await duck(samples('skewness', `'${file}'`))),
};
console.log(seen);
assert.deepStrictEqual(seen, {
  'skewPop, skewSamp': [1.5, 1.07],
  'kurtPop, kurtSamp': [3.25, 2.08],
  DuckDB: [2.23, 4.99],
  'simple-statistics': [2.23, 4.99],
  'mean of skewPop, skewSamp': [0.98, 0.84],
  'mean of DuckDB': [1.17],
});
NODE
timeout 60 node run.mjs
