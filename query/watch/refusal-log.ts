// The requests that were refused lately, of each project, in this process's memory: ingest tells them as core messages
// and nobody keeps them elsewhere. Dead letters, which are kept, are dead-letter-page.ts's.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Clock } from '../../platform/clock.ts';
import { hearLive, type LiveConnection } from '../../platform/live/live-messages.ts';
import { allRefused, projectOfSubject } from '../../platform/live/live-subjects.ts';
import {
  type Refusal,
  type RefusalCount,
  RefusalCountSchema,
  RefusalSchema,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { decodeRefusal, type RefusalMessage } from '../../proto/wire/live/refusal-message.ts';

/** Refusals of a project that are kept one by one. */
const maxRefusals = 200;
const maxProjects = 1_000;
const countedHours = 24;
/** Rules that an hour counts; there are about seventy. */
const maxRules = 200;
const hourMs = 3_600_000;

interface Refused {
  sinceMs: number;
  /** Oldest first. */
  refusals: RefusalMessage[];
  /** By the hour's number, then by rule. */
  counts: Map<number, Map<string, number>>;
  untold: number;
}

export interface RefusalReport {
  refusals: Refusal[];
  counts: RefusalCount[];
  sinceMs: number;
  untold: number;
}

export class RefusalLog {
  readonly #clock: Clock;
  /** The project refused last comes last. */
  readonly #projects = new Map<string, Refused>();
  /** From when on nothing of any project was forgotten. */
  #sinceMs: number;
  readonly #close: () => void;

  constructor(connection: Pick<LiveConnection, 'subscribe'>, clock: Clock) {
    this.#clock = clock;
    this.#sinceMs = clock.nowMs();
    this.#close = hearLive(connection, allRefused, (content, subject) => {
      const projectId = projectOfSubject(subject);
      const refusal = decodeRefusal(content);
      if (projectId !== undefined && refusal !== undefined) this.#add(projectId, refusal);
    });
  }

  report(projectId: string): RefusalReport {
    const refused = this.#projects.get(projectId);
    if (refused === undefined) {
      return { refusals: [], counts: [], sinceMs: this.#sinceMs, untold: 0 };
    }
    const { refusals, sinceMs, untold } = refused;
    this.#forgetHours(refused);
    const hours = [...refused.counts].sort(([one], [other]) => other - one);
    return {
      refusals: refusals.map(refusalOf).reverse(),
      counts: hours.flatMap(([hour, rules]) => countsOf(hour, rules)),
      sinceMs,
      untold,
    };
  }

  close(): void {
    this.#close();
  }

  #add(projectId: string, refusal: RefusalMessage): void {
    const refused = this.#refusedOf(projectId);
    refused.untold += refusal.untold;
    refused.refusals.push(refusal);
    if (refused.refusals.length > maxRefusals) refused.refusals.shift();
    const hour = Math.floor(refusal.timeMs / hourMs);
    const rules = refused.counts.get(hour) ?? new Map<string, number>();
    refused.counts.set(hour, rules);
    if (rules.size < maxRules || rules.has(refusal.rule)) {
      rules.set(refusal.rule, (rules.get(refusal.rule) ?? 0) + 1);
    }
    this.#forgetHours(refused);
  }

  #refusedOf(projectId: string): Refused {
    const known = this.#projects.get(projectId);
    const refused = known ?? {
      ...{ sinceMs: this.#sinceMs, refusals: [], untold: 0 },
      counts: new Map<number, Map<string, number>>(),
    };
    this.#projects.delete(projectId);
    this.#projects.set(projectId, refused);
    for (const oldest of this.#projects.keys()) {
      if (this.#projects.size <= maxProjects) break;
      this.#projects.delete(oldest);
      this.#sinceMs = this.#clock.nowMs();
    }
    return refused;
  }

  #forgetHours({ counts }: Refused): void {
    const thisHour = Math.floor(this.#clock.nowMs() / hourMs);
    for (const hour of counts.keys()) {
      if (hour <= thisHour - countedHours || hour > thisHour + 1) counts.delete(hour);
    }
  }
}

export function refusalOf({ timeMs, eventIndex, ...names }: RefusalMessage): Refusal {
  const { method, field, rule, kind, sdk } = names;
  return create(RefusalSchema, {
    ...{ method, field, rule, kind, sdk },
    time: timestampFromMs(timeMs),
    ...(eventIndex >= 0 && { eventIndex }),
  });
}

function countsOf(hour: number, rules: ReadonlyMap<string, number>): RefusalCount[] {
  const byCount = [...rules].sort(([, one], [, other]) => other - one);
  return byCount.map(([rule, requests]) =>
    create(RefusalCountSchema, {
      hour: timestampFromMs(hour * hourMs),
      rule,
      requests: BigInt(requests),
    }),
  );
}
