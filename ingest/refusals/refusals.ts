// Tells query of refused requests, so that a project's people learn what only its sender was told: one core message
// each, which nobody waits for. An accepted request never comes here. What a refusal answers is ingest/rpc/answer.ts's.

import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../../platform/clock.ts';
import { liveSubject } from '../../platform/live/live-subjects.ts';
import { setBounded } from '../../platform/memory/bounded-map.ts';
import { encodeExclusions } from '../../proto/wire/live/exclusion-message.ts';
import { encodeRefusal, untoldRefusals } from '../../proto/wire/live/refusal-message.ts';
import type { Refusal, RefusalCode } from '../rpc/answer.ts';
import type { ExclusionRule } from '../senders/exclusion-rules.ts';
import { sdkOf } from './sdk-name.ts';
import { toldField } from './told-field.ts';

/** A refused request of a key that is known. */
export interface RefusedRequest {
  projectId: string;
  /** `package.Service/Method`; `compat/FAMILY` for another vendor's SDK. */
  method: string;
  refusal: Refusal;
  headers: Pick<IncomingHttpHeaders, 'user-agent'>;
}

interface RefusalsOptions {
  send(subject: string, content: Uint8Array): void;
  clock: Clock;
}

/** The sender's project can mend these: what it sent, how much, and whom its settings let send. */
const toldCodes: ReadonlySet<RefusalCode> = new Set([
  'invalid_argument',
  'resource_exhausted',
  'permission_denied',
]);

/** A second's worth of messages: of a project, and of this process. */
const perSecond = { ofProject: 50, ofAll: 1_000 };
/** Whose second is remembered; a project that is pushed out begins a new one. */
const maxProjects = 1_000;
const maxFieldCharacters = 200;
/** What is left out is told so much later, with all that follows in this time. */
const excludedAfterMs = 1_000;
/** The end of a burst is told so much later: nothing else may follow it. */
const untoldAfterMs = 1_000;

interface Told {
  /** The second that `count` belongs to. */
  second: number;
  count: number;
  /** Refusals since the last message that were not told. */
  untold: number;
}

export class Refusals {
  readonly #options: RefusalsOptions;
  readonly #told = new Map<string, Told>();
  #second = 0;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Events of the last second, by project and rule. */
  readonly #excluded = new Map<string, Map<ExclusionRule, number>>();
  #excludedTimer: NodeJS.Timeout | undefined;

  constructor(options: RefusalsOptions) {
    this.#options = options;
  }

  /** Never throws. */
  tell({ projectId, method, refusal, headers }: RefusedRequest): void {
    if (!toldCodes.has(refusal.code)) return;
    const subject = liveSubject('refused', projectId);
    if (subject === undefined) return;
    const timeMs = this.#options.clock.nowMs();
    const told = this.#toldOf(projectId, Math.floor(timeMs / 1_000));
    if (told.count >= perSecond.ofProject || this.#count >= perSecond.ofAll) {
      told.untold++;
      this.#timer ??= setTimeout(() => this.#tellUntold(), untoldAfterMs).unref();
      return;
    }
    told.count++;
    this.#count++;
    const { index, field, eventKind = '' } = refusal.place ?? { index: -1, field: '' };
    const message = encodeRefusal({
      timeMs,
      method,
      eventIndex: index,
      field: toldField(field).slice(0, maxFieldCharacters),
      rule: refusal.reason,
      kind: eventKind,
      sdk: sdkOf(headers['user-agent']),
      untold: told.untold,
    });
    told.untold = 0;
    this.#options.send(subject, message);
  }

  /** Counts events of an accepted request that their project's settings left out: each is told once. Never throws. */
  tellExcluded(projectId: string, rule: ExclusionRule, events: number): void {
    const rules = this.#excluded.get(projectId) ?? new Map<ExclusionRule, number>();
    this.#excluded.set(projectId, rules);
    rules.set(rule, (rules.get(rule) ?? 0) + events);
    if (this.#excluded.size > maxProjects) this.tellRest();
    else this.#excludedTimer ??= setTimeout(() => this.tellRest(), excludedAfterMs).unref();
  }

  /** Tells of exclusions what is not told yet. */
  tellRest(): void {
    clearTimeout(this.#excludedTimer);
    this.#excludedTimer = undefined;
    const timeMs = this.#options.clock.nowMs();
    for (const [projectId, rules] of this.#excluded) {
      const subject = liveSubject('refused', projectId);
      if (subject === undefined) continue;
      const message = encodeExclusions({ timeMs, excluded: Object.fromEntries(rules) });
      this.#options.send(subject, message);
    }
    this.#excluded.clear();
  }

  #tellUntold(): void {
    this.#timer = undefined;
    const timeMs = this.#options.clock.nowMs();
    for (const [projectId, told] of this.#told) {
      const subject = told.untold > 0 ? liveSubject('refused', projectId) : undefined;
      if (subject === undefined) continue;
      this.#options.send(subject, encodeRefusal(untoldRefusals(timeMs, told.untold)));
      told.untold = 0;
    }
  }

  #toldOf(projectId: string, second: number): Told {
    if (second !== this.#second) {
      this.#second = second;
      this.#count = 0;
    }
    const known = this.#told.get(projectId);
    if (known?.second === second) return known;
    const told = { second, count: 0, untold: known?.untold ?? 0 };
    this.#told.delete(projectId);
    setBounded(this.#told, projectId, told, maxProjects);
    return told;
  }
}
