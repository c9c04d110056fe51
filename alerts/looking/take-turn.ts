// One turn at an alert: takes its lease, looks where a period is complete, writes a change of state, then tells it step
// by step, each written when it is done. A process that dies leaves the rest to the turn after its lease.

import { randomUUID } from 'node:crypto';
import { ConnectError } from '@connectrpc/connect';
import {
  type AlertStateRecord,
  alertStateKey,
  maxUntold,
  untold,
} from '../../platform/alerts/alert-state.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { HeldRecord, isLeased, LeaseLost } from '../../platform/turns/held-record.ts';
import type { OwnedAlert } from '../owned-alerts.ts';
import { type TellingParts, tellChanges } from '../telling/tell-changes.ts';
import { type HeldAlert, leaseMs, type StateBucket, stateOf } from './held-alert.ts';
import { type AskQuestion, measure } from './measure.ts';
import { afterLook, withoutData } from './next-state.ts';
import { lastPeriod, nextEnd, type Period, patienceMs } from './periods.ts';

export interface TurnParts extends TellingParts {
  states: StateBucket;
  ask: AskQuestion;
  /** The time zone of a project's reports. */
  timezoneOf(projectId: string): string;
  /** Since when this process has looked: what was missed before says nothing. */
  upSinceMs: number;
  clock: Clock;
  log: Log;
}

/** A period that is not complete, or a question that failed, is asked for again. */
const againMs = 10_000;
/** A question that takes long is asked less often: at most a twentieth of an alert's time is at the engine. */
const restFactor = 20;
const maxRestMs = 3_600_000;
const maxProblemCharacters = 300;
const noAnswer = 'the question could not be answered';

/** Returns when the alert's next turn is. Throws the bucket's errors. */
export async function takeTurn(parts: TurnParts, owned: OwnedAlert): Promise<number> {
  const { states, clock, log } = parts;
  const key = alertStateKey(owned.projectId, owned.place);
  const found = await states.get(key);
  const record = stateOf(found, owned);
  const nowMs = clock.nowMs();
  if (isLeased(record, nowMs, leaseMs)) return record.leaseEndMs;
  if (!isLookDue(parts, owned, record) && !isTellingDue(record, nowMs)) {
    return nextTurnMs(parts, owned, record);
  }
  const held = await HeldRecord.take({ states, clock, leaseMs }, key, found, record);
  if (held === undefined) return nowMs + againMs;
  try {
    if (isLookDue(parts, owned, record)) await look(parts, owned, held);
    await tellChanges(parts, owned, held);
    await held.release();
    return nextTurnMs(parts, owned, held.record);
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
    log.warn({ alert: owned.alert.id }, error.message);
    return nowMs + againMs;
  }
}

/** The newest period that has ended, where nobody has looked at it yet. */
function duePeriod(
  { timezoneOf, clock }: TurnParts,
  { projectId, alert }: OwnedAlert,
  { looks }: AlertStateRecord,
): Period | undefined {
  const period = lastPeriod(alert.interval, timezoneOf(projectId), clock.nowMs());
  return period.toMs > (looks.at(-1)?.toMs ?? 0) ? period : undefined;
}

function isLookDue(parts: TurnParts, owned: OwnedAlert, record: AlertStateRecord): boolean {
  if (owned.alert.isPaused || untold(record).length >= maxUntold) return false;
  const restMs = record.restUntilMs - parts.clock.nowMs();
  // A rest that is longer than any was written before the clock was set back.
  const isResting = restMs > 0 && restMs <= maxRestMs;
  return !isResting && duePeriod(parts, owned, record) !== undefined;
}

function isTellingDue(record: AlertStateRecord, nowMs: number): boolean {
  const [first] = untold(record);
  return first !== undefined && first.telling.nextTryMs <= nowMs;
}

function nextTurnMs(parts: TurnParts, owned: OwnedAlert, record: AlertStateRecord): number {
  const { clock, timezoneOf } = parts;
  const nowMs = clock.nowMs();
  const [first] = untold(record);
  const { interval } = owned.alert;
  const isOpen = duePeriod(parts, owned, record) !== undefined;
  const lookMs = isOpen
    ? Math.max(nowMs + againMs, Math.min(record.restUntilMs, nowMs + maxRestMs))
    : nextEnd(interval, timezoneOf(owned.projectId), nowMs);
  const tellMs = first === undefined ? Number.POSITIVE_INFINITY : first.telling.nextTryMs;
  return Math.max(nowMs + 1_000, Math.min(lookMs, tellMs));
}

async function look(parts: TurnParts, owned: OwnedAlert, held: HeldAlert): Promise<void> {
  const { projectId, alert } = owned;
  const { clock, log } = parts;
  const ask: AskQuestion = async (...asked) => {
    await held.renew();
    return parts.ask(...asked);
  };
  const period = duePeriod(parts, owned, held.record);
  const { condition } = alert;
  if (period === undefined || condition === undefined) return;
  const timezone = parts.timezoneOf(projectId);
  const startedMs = clock.nowMs();
  const changeId = randomUUID();
  try {
    const seen = await lookAt({ ask, projectId, alert, timezone }, period, held.record);
    const nowMs = clock.nowMs();
    const restUntilMs = nowMs + Math.min(maxRestMs, (nowMs - startedMs) * restFactor);
    const rested = { ...held.record, restUntilMs };
    if (seen === undefined) await held.write(waiting(parts, owned, rested, period, changeId, ''));
    else await held.write(afterLook(rested, condition, seen, { changeId, nowMs }));
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    log.info({ err: error, alert: alert.id, projectId }, 'the question of an alert failed');
    // What an engine says of its statement is for the log alone.
    const problem = error instanceof ConnectError ? error.rawMessage : noAnswer;
    await held.write(waiting(parts, owned, held.record, period, changeId, problem));
  }
}

/** What the newest complete period shows; undefined where none is complete that nobody has looked at. */
async function lookAt(
  {
    ask,
    ...of
  }: { ask: AskQuestion; projectId: string; alert: OwnedAlert['alert']; timezone: string },
  period: Period,
  { looks }: AlertStateRecord,
) {
  const { value, completeUntilMs } = await measure(ask, of, period);
  if (completeUntilMs === undefined) return undefined;
  if (completeUntilMs >= period.toMs) return { ...period, value };
  const older = lastPeriod(of.alert.interval, of.timezone, completeUntilMs);
  if (older.toMs <= (looks.at(-1)?.toMs ?? 0)) return undefined;
  const again = await measure(ask, of, older);
  if (again.completeUntilMs === undefined || again.completeUntilMs < older.toMs) return undefined;
  return { ...older, value: again.value };
}

/** The record of an alert without a look: it waits, and once it has waited for long nothing is known. */
function waiting(
  { clock, timezoneOf, upSinceMs }: TurnParts,
  { projectId, alert }: OwnedAlert,
  record: AlertStateRecord,
  period: Period,
  changeId: string,
  problem: string,
): AlertStateRecord {
  const nowMs = clock.nowMs();
  const last = record.looks.at(-1)?.toMs ?? 0;
  const changedMs = Number(alert.updateTime?.seconds ?? 0) * 1_000;
  const sinceMs = Math.max(
    nextEnd(alert.interval, timezoneOf(projectId), last),
    changedMs,
    upSinceMs,
  );
  const noted = { ...record, problem: problem.slice(0, maxProblemCharacters) };
  if (nowMs - sinceMs < patienceMs(alert.interval)) return noted;
  return withoutData(noted, { ...period, value: null }, { changeId, nowMs });
}
