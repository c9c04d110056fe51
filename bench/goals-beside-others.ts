// The goals of what one sender or reader may cost the others, whatever it sends or asks.

import type { Goal } from './goal.ts';

export const goalsBesideOthers: readonly Goal[] = [
  {
    name: 'a refused body of 100 events at three places, or of one with 256 properties, broken in one of 19 ways',
    beside: 'the same body accepted, CPU',
    asked: { atMost: 1.5 },
    reached: { bench: 'refused', column: 'cost ratio' },
  },
  {
    name: "a customer's call beside another's dearest questions from 60 projects, the worst",
    beside: 'the same call in quiet; none is refused',
    asked: { atMost: 2 },
    reached: { bench: 'insights-strangers', column: 'of quiet' },
  },
  {
    name: "others' requests while somebody attacks the memory of the port, p99",
    beside: 'the same load without the attack',
    asked: { atMost: 5 },
    reached: { bench: 'exposed', column: 'ratio' },
  },
  {
    name: 'memory that such an attack adds to the service',
    beside: 'its memory before',
    asked: { atMost: 256 },
    unit: 'MiB',
    reached: { bench: 'exposed', column: 'MiB more' },
  },
  {
    name: 'events of a small sender until queryable, while another project floods the shard, p99',
    beside: 'the same without the flood',
    asked: { atMost: 5 },
    reached: { bench: 'flood', column: 'p99 ratio' },
  },
  {
    name: "a PostHog export's events, read, mapped and checked",
    beside: 'JSON.parse of the same lines, CPU',
    asked: { atLeast: 0.25 },
    reached: {
      bench: 'import',
      column: 'CPU ratio',
      where: { run: 'dry run: read, mapped, checked' },
    },
  },
  {
    name: "a PostHog export's events, imported and acknowledged, events a second",
    beside: 'the clock, on two cores',
    asked: { atLeast: 60_000 },
    reached: { bench: 'import', column: 'events/s', where: { run: 'first' } },
  },
  {
    name: "a PostHog export's events, imported and acknowledged",
    beside: 'JSON.parse of the same lines on one thread, events a second',
    asked: { atLeast: 0.25 },
    reached: { bench: 'import', column: 'of parse', where: { run: 'first' } },
  },
  {
    name: 'events of now until queryable, while the same project imports as fast as it may, p99',
    beside: 'the same without the import',
    asked: { atMost: 1.2 },
    reached: { bench: 'import', column: 'p99 ratio' },
  },
  {
    name: 'events as Parquet, exported',
    beside: "the engine's own file of the same rows, rows a second",
    asked: { atLeast: 0.5 },
    reached: { bench: 'export', column: 'of own file', where: { file: 'GET /export' } },
  },
  {
    name: 'events of now until queryable, while their project is exported again and again, p99',
    beside: 'the same without exports',
    asked: { atMost: 1.2 },
    reached: { bench: 'export', column: 'export p99 ratio' },
  },
  {
    name: 'events queryable beside a sender of 320 months, p99',
    beside: 'the same load alone',
    asked: { atMost: 2 },
    reached: { bench: 'months', column: 'p99 ratio' },
  },
  {
    name: 'memory that such a sender adds to the service or the engine',
    beside: 'its memory before',
    asked: { atMost: 256 },
    unit: 'MiB',
    reached: { bench: 'months', column: 'MiB more' },
  },
  {
    name: 'a year of history, in any order',
    beside: 'the same rows in one month, CPU of service and engine, merges included',
    asked: { atMost: 1.3 },
    reached: { bench: 'months', column: 'CPU ratio' },
  },
];
