// The requests that were refused lately and the events that were left out, of each project, in this process's memory:
// ingest tells them as core messages and nobody keeps them elsewhere. All together take a bounded number of bytes. Dead
// letters, which are kept, are dead-letter-page.ts's.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Clock, hourMs } from '../../platform/clock.ts';
import { hearLive, type LiveConnection } from '../../platform/live/live-messages.ts';
import { allRefused, projectOfSubject } from '../../platform/live/live-subjects.ts';
import {
  type ExclusionCount,
  ExclusionCountSchema,
  type Refusal,
  type RefusalCount,
  RefusalCountSchema,
  RefusalSchema,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import {
  decodeExclusions,
  type ExclusionMessage,
  isExclusionRule,
} from '../../proto/wire/live/exclusion-message.ts';
import {
  decodeRefusal,
  isRefusal,
  type RefusalMessage,
} from '../../proto/wire/live/refusal-message.ts';

/** Refusals of a project that are kept one by one. */
const maxRefusals = 200;
const maxProjects = 1_000;
const countedHours = 24;
/** Rules that an hour counts; there are about seventy. */
const maxRules = 200;
/** Of all projects: some 800 of them with all that is kept of one. */
const maxBytes = 32 * 1_048_576;
/** Besides its characters, in about: a text with its place in a list; an entry of a map; a map; a project. */
const bytesOf = { text: 40, entry: 64, map: 256, project: 640 };

interface Refused {
  sinceMs: number;
  /** Oldest first, packed. */
  refusals: string[];
  /** By the hour's number, then by rule. */
  counts: Map<number, Map<string, number>>;
  untold: number;
  /** What all of this takes. */
  bytes: number;
}

export interface RefusalReport {
  refusals: Refusal[];
  counts: RefusalCount[];
  exclusions: ExclusionCount[];
  sinceMs: number;
  untold: number;
}

export class RefusalLog {
  readonly #clock: Clock;
  /** The project refused last comes last. */
  readonly #projects = new Map<string, Refused>();
  /** From when on nothing of any project was forgotten. */
  #sinceMs: number;
  #bytes = 0;
  readonly #close: () => void;

  constructor(connection: Pick<LiveConnection, 'subscribe'>, clock: Clock) {
    this.#clock = clock;
    this.#sinceMs = clock.nowMs();
    this.#close = hearLive(connection, allRefused, (content, subject) => {
      const projectId = projectOfSubject(subject);
      const refusal = decodeRefusal(content);
      if (projectId === undefined) return;
      if (refusal !== undefined) {
        this.#add(projectId, (refused) => this.#keep(refused, refusal));
        return;
      }
      const exclusions = decodeExclusions(content);
      if (exclusions !== undefined) {
        this.#add(projectId, (refused) => countExcluded(refused, exclusions));
      }
    });
  }

  /** An estimate of what is kept, rather more than V8 takes. */
  get bytes(): number {
    return this.#bytes;
  }

  report(projectId: string): RefusalReport {
    const refused = this.#projects.get(projectId);
    if (refused === undefined) {
      return { refusals: [], counts: [], exclusions: [], sinceMs: this.#sinceMs, untold: 0 };
    }
    const { refusals, sinceMs, untold } = refused;
    this.#forgetHours(refused);
    const hours = [...refused.counts].sort(([one], [other]) => other - one);
    return {
      refusals: refusals.map((packed) => refusalOf(unpack(packed))).reverse(),
      counts: hours.flatMap(([hour, rules]) => countsOf(hour, rules)),
      exclusions: hours.flatMap(([hour, rules]) => exclusionsOf(hour, rules)),
      sinceMs,
      untold,
    };
  }

  close(): void {
    this.#close();
  }

  #add(projectId: string, add: (refused: Refused) => void): void {
    const refused = this.#refusedOf(projectId);
    const before = refused.bytes;
    add(refused);
    this.#bytes += refused.bytes - before;
    this.#forgetHours(refused);
    this.#forgetProjects();
  }

  #keep(refused: Refused, refusal: RefusalMessage): void {
    refused.untold += refusal.untold;
    if (!isRefusal(refusal)) return;
    const packed = pack(refusal);
    refused.refusals.push(packed);
    refused.bytes += bytesOf.text + packed.length;
    if (refused.refusals.length > maxRefusals) {
      refused.bytes -= bytesOf.text + (refused.refusals.shift()?.length ?? 0);
    }
    count(refused, refusal.timeMs, refusal.rule, 1);
  }

  #refusedOf(projectId: string): Refused {
    const known = this.#projects.get(projectId);
    const refused = known ?? {
      ...{ sinceMs: this.#sinceMs, refusals: [], untold: 0, bytes: bytesOf.project },
      counts: new Map<number, Map<string, number>>(),
    };
    if (known === undefined) this.#bytes += refused.bytes;
    this.#projects.delete(projectId);
    this.#projects.set(projectId, refused);
    return refused;
  }

  #forgetProjects(): void {
    for (const [oldest, { bytes }] of this.#projects) {
      if (this.#projects.size <= maxProjects && this.#bytes <= maxBytes) break;
      this.#projects.delete(oldest);
      this.#bytes -= bytes;
      this.#sinceMs = this.#clock.nowMs();
    }
  }

  #forgetHours(refused: Refused): void {
    const thisHour = Math.floor(this.#clock.nowMs() / hourMs);
    for (const [hour, rules] of refused.counts) {
      if (hour > thisHour - countedHours && hour <= thisHour + 1) continue;
      const bytes = bytesOf.map + rules.size * bytesOf.entry;
      refused.counts.delete(hour);
      refused.bytes -= bytes;
      this.#bytes -= bytes;
    }
  }
}

function countExcluded(refused: Refused, { timeMs, excluded }: ExclusionMessage): void {
  for (const [rule, events] of Object.entries(excluded)) count(refused, timeMs, rule, events);
}

function count(refused: Refused, timeMs: number, rule: string, more: number): void {
  const hour = Math.floor(timeMs / hourMs);
  const known = refused.counts.get(hour);
  const rules = known ?? new Map<string, number>();
  if (known === undefined) {
    refused.counts.set(hour, rules);
    refused.bytes += bytesOf.map;
  }
  if (rules.has(rule)) rules.set(rule, (rules.get(rule) ?? 0) + more);
  else if (rules.size < maxRules) {
    rules.set(rule, more);
    refused.bytes += bytesOf.entry;
  }
}

/** A byte for each byte of its JSON: less than half of what the fields would take as an object. */
function pack({ timeMs, eventIndex, method, field, rule, kind, sdk }: RefusalMessage): string {
  const json = JSON.stringify([timeMs, eventIndex, method, field, rule, kind, sdk]);
  return Buffer.from(json).toString('latin1');
}

function unpack(packed: string): RefusalMessage {
  const values: unknown[] = JSON.parse(Buffer.from(packed, 'latin1').toString());
  const [timeMs, eventIndex, ...names] = values;
  const [method = '', field = '', rule = '', kind = '', sdk = ''] = names.map(String);
  return {
    ...{ timeMs: Number(timeMs), eventIndex: Number(eventIndex), untold: 0 },
    ...{ method, field, rule, kind, sdk },
  };
}

export function refusalOf({ timeMs, eventIndex, ...names }: RefusalMessage): Refusal {
  const { method, field, rule, kind, sdk } = names;
  return create(RefusalSchema, {
    ...{ method, field, rule, kind, sdk },
    time: timestampFromMs(timeMs),
    ...(eventIndex >= 0 && { eventIndex }),
  });
}

type Counted = readonly [rule: string, count: number];

function byCount(
  rules: ReadonlyMap<string, number>,
  isCounted: (rule: string) => boolean,
): Counted[] {
  const counted = [...rules].filter(([rule]) => isCounted(rule));
  return counted.sort(([, one], [, other]) => other - one);
}

function exclusionsOf(hour: number, rules: ReadonlyMap<string, number>): ExclusionCount[] {
  return byCount(rules, isExclusionRule).map(([rule, events]) =>
    create(ExclusionCountSchema, {
      hour: timestampFromMs(hour * hourMs),
      rule,
      events: BigInt(events),
    }),
  );
}

function countsOf(hour: number, rules: ReadonlyMap<string, number>): RefusalCount[] {
  return byCount(rules, (rule) => !isExclusionRule(rule)).map(([rule, requests]) =>
    create(RefusalCountSchema, {
      hour: timestampFromMs(hour * hourMs),
      rule,
      requests: BigInt(requests),
    }),
  );
}
