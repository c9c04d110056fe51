// The lease of one process on one alert, and its record while it is held. Every write is a compare-and-set: whoever has
// lost the lease writes nothing more.

import {
  type AlertStateRecord,
  alertStateKey,
  newAlertState,
} from '../../platform/alerts/alert-state.ts';
import type { ReadResult, RecordBucket } from '../../platform/broker/record-bucket.ts';
import type { Clock } from '../../platform/clock.ts';
import type { OwnedAlert } from '../owned-alerts.ts';

export type StateBucket = Pick<RecordBucket<AlertStateRecord>, 'get' | 'create' | 'update'>;

const leaseMs = 60_000;
/** The longest step is a mail, of 40 s: where less is left, nothing that others could repeat is begun. */
const safeMs = 45_000;

/** Another process works on the alert now. */
export class LeaseLost extends Error {}

/** False where the moment was written as further ahead than a lease is: the clock was set back meanwhile. */
export function isLeased({ leaseEndMs }: AlertStateRecord, nowMs: number): boolean {
  return leaseEndMs > nowMs && leaseEndMs - nowMs <= leaseMs;
}

/** What the broker has of the alert. Throws where another version of the service wrote it. */
export function stateOf(
  found: ReadResult<AlertStateRecord>,
  { alert }: OwnedAlert,
): AlertStateRecord {
  switch (found.kind) {
    case 'found':
      return found.record.alertId === alert.id ? found.record : newAlertState(alert.id);
    case 'absent':
      return newAlertState(alert.id);
    case 'unreadable':
      throw new Error(`the state of alert ${alert.id} cannot be read by this version`);
    default:
      return found satisfies never;
  }
}

export class HeldAlert {
  readonly #states: StateBucket;
  readonly #clock: Clock;
  readonly #key: string;
  #revision: number;
  #record: AlertStateRecord;

  private constructor(
    states: StateBucket,
    clock: Clock,
    key: string,
    revision: number,
    record: AlertStateRecord,
  ) {
    this.#states = states;
    this.#clock = clock;
    this.#key = key;
    this.#revision = revision;
    this.#record = record;
  }

  /** Takes the lease on what was found; undefined where another process was first. */
  static async take(
    { states, clock }: { states: StateBucket; clock: Clock },
    { projectId, place }: OwnedAlert,
    found: ReadResult<AlertStateRecord>,
    record: AlertStateRecord,
  ): Promise<HeldAlert | undefined> {
    const key = alertStateKey(projectId, place);
    const leased = { ...record, leaseEndMs: clock.nowMs() + leaseMs };
    const written =
      found.kind === 'absent'
        ? await states.create(key, leased)
        : await states.update(key, leased, found.revision);
    if (written.kind === 'conflict') return undefined;
    return new HeldAlert(states, clock, key, written.revision, leased);
  }

  get record(): AlertStateRecord {
    return this.#record;
  }

  /** Writes the record and keeps the lease. Throws LeaseLost. */
  async write(next: AlertStateRecord): Promise<void> {
    await this.#update({ ...next, leaseEndMs: this.#clock.nowMs() + leaseMs });
  }

  /** Makes sure that nobody else begins meanwhile. Throws LeaseLost. */
  async renew(): Promise<void> {
    if (this.#record.leaseEndMs - this.#clock.nowMs() < safeMs) await this.write(this.#record);
  }

  async release(): Promise<void> {
    await this.#update({ ...this.#record, leaseEndMs: 0 });
  }

  async #update(record: AlertStateRecord): Promise<void> {
    const written = await this.#states.update(this.#key, record, this.#revision);
    if (written.kind === 'conflict') throw new LeaseLost('another process works on the alert');
    this.#revision = written.revision;
    this.#record = record;
  }
}
