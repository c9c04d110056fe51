// What each role needs for a rate of events that are kept for some days, computed from what was measured.

import type { Figure, Measured } from './measured.ts';

export interface Asked {
  eventsPerSecond: number;
  days: number;
}

export interface RoleSize {
  role: string;
  /** At work all the time. */
  cores: number;
  /** So that half of them are idle, as where the lag was measured. */
  coresToHave: number;
  memoryGiB: number;
  diskGB: number;
  /** Received and sent together, a second. */
  networkMB: number;
  /** How each of these came about. */
  from: string[];
}

export interface Size {
  rows: number;
  shards: number;
  roles: RoleSize[];
}

const daySeconds = 86_400;
const hourSeconds = 3_600;
/** Of the machine on which all parts were measured together. */
const measuredCores = 2;

/** Of one copy: servers that hold the same data need the same each. */
export function sizeOf({ eventsPerSecond, days }: Asked, measured: Measured): Size {
  const rows = eventsPerSecond * daySeconds * days;
  const { memory, bodyBytes, queuedBytes, insertedBytes, storedBytes } = measured;
  const role = createRole(eventsPerSecond);
  return {
    rows,
    shards: Math.ceil(eventsPerSecond / measured.halfLoad.value),
    roles: [
      role('ingest', {
        microseconds: measured.requests,
        memory: memory.service,
        network: [bodyBytes, queuedBytes],
      }),
      role('broker', {
        microseconds: [measured.broker],
        memory: memory.broker,
        network: [queuedBytes, queuedBytes],
        stored: { ...queuedBytes, seconds: hourSeconds, of: 'an hour in which nothing is stored' },
      }),
      role('pipeline', {
        microseconds: measured.building,
        memory: memory.service,
        network: [queuedBytes, insertedBytes],
      }),
      role('ClickHouse', {
        microseconds: [...measured.inserting, mergeCost(rows, measured)],
        memory: memory.engine,
        network: [insertedBytes],
        stored: { ...storedBytes, seconds: days * daySeconds, of: `${days} days` },
      }),
    ],
  };
}

interface Needs {
  /** Of an event, on a core. */
  microseconds: readonly Figure[];
  /** MiB of the processes on as many cores as were measured. */
  memory: Figure;
  /** Bytes of an event, each way. */
  network: readonly Figure[];
  stored?: Figure & { seconds: number; of: string };
}

function createRole(eventsPerSecond: number) {
  return (role: string, { microseconds, memory, network, stored }: Needs): RoleSize => {
    const cores = (eventsPerSecond * sum(microseconds)) / 1e6;
    const coresToHave = Math.ceil(2 * cores);
    const processes = Math.ceil(coresToHave / measuredCores);
    return {
      ...{ role, cores, coresToHave },
      memoryGiB: (processes * memory.value) / 1_024,
      diskGB: stored ? (eventsPerSecond * stored.value * stored.seconds) / 1e9 : 0,
      networkMB: (eventsPerSecond * sum(network)) / 1e6,
      from: [
        ...microseconds.map(({ value, from }) => `${value.toFixed(2)} us an event: ${from}`),
        `${memory.value} MiB for each ${measuredCores} cores: ${memory.from}`,
        ...network.map(({ value, from }) => `${value.toFixed(0)} B an event on the net: ${from}`),
        ...(stored
          ? [`${stored.value.toFixed(0)} B an event on the disk, of ${stored.of}: ${stored.from}`]
          : []),
      ],
    };
  };
}

/** Merges cost more where more is stored: a row is rewritten more often. */
function mergeCost(rows: number, { rewrite, rewrites, shareOfEvents }: Measured): Figure {
  const found = rewrites.find((one) => one.rows >= rows) ?? rewrites.at(-1);
  const times = found?.figure.value ?? 0;
  return {
    value: (rewrite.value * times) / shareOfEvents.value,
    from: `merges, ${times} rewrites of ${rewrite.value} us, ${shareOfEvents.value} of them of events: ${found?.figure.from}`,
  };
}

function sum(figures: readonly Figure[]): number {
  return figures.reduce((all, { value }) => all + value, 0);
}
