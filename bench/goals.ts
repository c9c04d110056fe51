// The goals of the benches, each a share of a limit that was measured in the same run. How far they are reached is
// read-goals.ts's.

import type { Cell, Goal } from './goal.ts';
import { goalsBesideOthers } from './goals-beside-others.ts';

export const goals: readonly Goal[] = [
  {
    name: 'validation, medium events in batches of 100',
    beside: 'JSON.parse of the same bodies, CPU',
    asked: { atLeast: 6 },
    reached: { bench: 'validate', column: 'ratio', where: { size: 'medium', batch: '100' } },
  },
  {
    name: 'validation, the worst of three sizes and three batches',
    beside: 'JSON.parse of the same bodies, CPU',
    asked: { atLeast: 4 },
    reached: { bench: 'validate', column: 'ratio' },
  },
  {
    name: 'validation that also writes columns',
    beside: 'validation alone, CPU',
    asked: { atMost: 1.7 },
    reached: { bench: 'emit', column: 'ratio', where: { size: 'medium', batch: '100' } },
  },
  {
    name: 'queued bytes to Arrow',
    beside: 'JSON.parse and vectorFromArray, CPU',
    asked: { atLeast: 12 },
    reached: { bench: 'arrow', column: 'ratio', where: { size: 'medium', batch: '100' } },
  },
  {
    name: 'a batch of projects without webhooks',
    beside: 'the same batch without a look at subscriptions, CPU, 95 % confidence',
    asked: { atMost: 1.01 },
    reached: { bench: 'webhook-matching', column: 'at most', where: { subscriptions: 'none' } },
  },
  {
    name: 'a request of one event before the broker',
    beside: 'a bare node:http sink, CPU a request',
    asked: { atMost: 1.3 },
    reached: { bench: 'gateway', column: 'ratio', where: { batch: '1' } },
  },
  {
    name: 'a request of 100 events before the broker',
    beside: 'a bare node:http sink, CPU a request',
    asked: { atMost: 1.8 },
    reached: { bench: 'gateway', column: 'ratio', where: { batch: '100' } },
  },
  {
    name: 'a batch of PostHog with 100 events, acknowledged',
    beside: 'BatchCreate with the same events, CPU',
    asked: { atMost: 3 },
    reached: { bench: 'compat', column: 'ratio', where: { batch: '100' } },
  },
  {
    name: 'requests of one event, acknowledged',
    beside: "a bare node:http sink's requests a second",
    asked: { atLeast: 0.5 },
    reached: { bench: 'single', column: 'of sink', where: { server: 'millrace' } },
  },
  {
    name: 'bytes stored in the broker, medium events in batches of 100',
    beside: 'bytes received',
    asked: { atMost: 0.4 },
    reached: { bench: 'broker-bytes', column: 'ratio', where: { size: 'medium', batch: '100' } },
  },
  {
    name: 'an event from HTTP until it is queryable, batches of 100',
    beside: "the engine's own insert of the same rows, CPU, all merges",
    asked: { atLeast: 0.45 },
    reached: { bench: 'end-to-end', column: 'of engine', where: { run: 'all' } },
  },
  {
    name: 'time until queryable at half load, p99',
    beside: 'the clock',
    asked: { atMost: 1_500 },
    unit: 'ms',
    reached: { bench: 'end-to-end', column: 'p99' },
  },
  {
    name: 'memory of service, broker and engine together',
    beside: '1.7 GB',
    asked: { atMost: 1_621 },
    unit: 'MiB',
    reached: { bench: 'end-to-end', column: 'MiB', where: { process: 'together' } },
  },
  {
    name: 'the same at any moment of ten minutes at half load',
    beside: '1.7 GB',
    asked: { atMost: 1_621 },
    unit: 'MiB',
    reached: { bench: 'steady', column: 'highest', where: { process: 'together' } },
  },
  profileGoal('a profile by its externalId, p99', 25, 'GetByExternalId'),
  profileGoal('a profile by an id, p99', 25, 'Get by an id, anonymous or merged'),
  profileGoal('a page with two filters, p99', 100, 'a page with two filters on traits'),
  {
    name: 'any of these and other reads where half of the profiles are merged',
    beside: 'the same read without merges, CPU',
    asked: { atMost: 1.5 },
    reached: { bench: 'profile-reads', column: 'cpu ratio' },
  },
  {
    name: 'an event on a live view after its acknowledgement, p95',
    beside: 'the clock',
    asked: { atMost: 150 },
    unit: 'ms',
    reached: { bench: 'watch', column: 'p95 ms', where: { stage: 'arriving' } },
  },
  {
    name: 'an event on the live page after its acknowledgement, p95',
    beside: 'the clock',
    asked: { atMost: 150 },
    unit: 'ms',
    reached: { bench: 'web-live', column: 'p95 ms' },
  },
  {
    name: 'frames a second of the live page at 1,000 events/s, the lowest second',
    beside: 'the clock',
    asked: { atLeast: 30 },
    reached: { bench: 'web-live', column: 'frames/s, lowest' },
  },
  {
    name: 'heap of the live page at 1,000 events/s',
    beside: '100 MB',
    asked: { atMost: 95 },
    unit: 'MiB',
    reached: { bench: 'web-live', column: 'heap MiB' },
  },
  {
    name: 'rows in the document of a list of 100,000 events',
    beside: 'sixty',
    asked: { atMost: 59 },
    reached: { bench: 'web-live', column: 'rows in the document' },
  },
  {
    name: 'the overview of 5 million events, from the click to the last tile',
    beside: 'the clock',
    asked: { atMost: 1_500 },
    unit: 'ms',
    reached: { bench: 'web-overview', column: 'median ms' },
  },
  {
    name: 'a question over 20 million events of which no day is kept, the worst',
    beside: 'the plainest SQL for the same answer',
    asked: { atMost: 1.1 },
    reached: { bench: 'insights', column: 'of plain', where: { 'days kept': 'no' } },
  },
  {
    name: 'a question whose past days are kept, the worst',
    beside: 'the plainest SQL for the same answer',
    asked: { atMost: 0.4 },
    reached: { bench: 'insights', column: 'of plain', where: { 'days kept': 'yes' } },
  },
  {
    name: "a peer's layout of the same events, geometric mean",
    beside: 'ours',
    asked: { atLeast: 4 },
    reached: { bench: 'insights', column: 'peer / ours, geometric mean' },
  },
  {
    name: "a peer's layout of the same events, the worst question",
    beside: 'ours',
    asked: { atLeast: 1 },
    reached: { bench: 'insights', column: 'peer / ours' },
  },
  {
    name: 'a member of these questions, such as recurring retention or paths to an event, the worst',
    beside: 'the plainest SQL for the same answer',
    asked: { atMost: 1.2 },
    reached: { bench: 'insights-members', column: 'CPU of plain' },
  },
  {
    name: 'the same where no day is kept',
    beside: 'the plainest SQL for the same answer',
    asked: { atMost: 1.2 },
    reached: { bench: 'insights-members', column: 'first CPU of plain' },
  },
  {
    name: 'the first hundred persons behind a number, the worst',
    beside: 'the plainest SQL that lists the same persons',
    asked: { atMost: 1.2 },
    reached: { bench: 'insights-persons', column: 'of plain' },
  },
  {
    name: 'the overview board over 20 million events',
    beside: 'its tiles, each asked alone of rows of events',
    asked: { atMost: 0.5 },
    reached: { bench: 'insights-board', column: 'of its tiles' },
  },
  {
    name: 'a trend of 30 days with five times as many events before them',
    beside: 'the same trend without them',
    asked: { atMost: 1.3 },
    reached: {
      bench: 'insights-growth',
      column: '100 of 20',
      where: { question: 'trend of one kind' },
    },
  },
  {
    name: 'a question while 50,000 events a second come in, the worst',
    beside: 'the same question in quiet',
    asked: { atMost: 3 },
    reached: { bench: 'insights-under-load', column: 'of quiet' },
  },
  {
    name: 'an event at its webhook, 1,000 a second to 500 webhooks, p99',
    beside: 'the clock, from its request',
    asked: { atMost: 2_000 },
    unit: 'ms',
    reached: { bench: 'webhooks', column: 'p99 ms', where: { endpoints: 'all are well' } },
  },
  {
    name: 'events that are taken a second meanwhile, and where endpoints fail',
    beside: 'the 1,000 that are due',
    asked: { atLeast: 990 },
    reached: { bench: 'webhooks', column: 'taken a second' },
  },
  {
    name: 'the p99 while 5 % of the endpoints hang and 5 % refuse',
    beside: 'the load before it, all endpoints well',
    asked: { atMost: 1.25 },
    reached: { bench: 'webhooks', column: 'of healthy p99' },
  },
  retriesGoal('p99 of first attempts', 1.1, 'p99 ms'),
  retriesGoal('memory of the sender', 1.05, 'sender MiB'),
  {
    name: "a small project's question beside another's heavy ones, the worst",
    beside: 'the same question in quiet',
    asked: { atMost: 2 },
    reached: { bench: 'insights-fairness', column: 'of quiet' },
  },
  accountsGoal('check of a key', 20, 'us', 'a key, us of CPU'),
  accountsGoal('check of a token', 20, 'us', 'a token, us of CPU'),
  accountsGoal('slowest revocation', 1_000, 'ms', 'a revocation in another process, ms, slowest'),
  ...goalsBesideOthers,
  {
    name: 'ready again after a start',
    beside: 'the clock',
    asked: { atMost: 5_000 },
    unit: 'ms',
    reached: { bench: 'start', column: 'reached ms', where: { '': 'again' } },
  },
  {
    name: 'ready after broker and engine have answered, 20 million events stored',
    beside: 'the clock',
    asked: { atMost: 3_000 },
    unit: 'ms',
    reached: { bench: 'start-stored', column: 'after them ms' },
  },
];

function profileGoal(name: string, atMost: number, read: string): Goal {
  const reached: Cell = { bench: 'profile-reads', column: 'p99 ms', where: { read } };
  return { name, beside: 'the clock', asked: { atMost }, unit: 'ms', reached };
}

function retriesGoal(name: string, atMost: number, figure: string): Goal {
  return {
    name: `${name} while 200,000 retries wait`,
    beside: 'the load before it, without them',
    asked: { atMost },
    reached: { bench: 'webhook-retries', column: 'waiting over none', where: { figure } },
  };
}

function accountsGoal(name: string, atMost: number, unit: 'us' | 'ms', row: string): Goal {
  const reached: Cell = { bench: 'accounts', column: 'reached', where: { '': row } };
  return { name, beside: 'the clock', asked: { atMost }, unit, reached };
}
