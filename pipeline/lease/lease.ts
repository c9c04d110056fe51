// Which of several processes writes the shards: the one whose name is in a record at the broker, which it writes anew
// every two seconds. Another one takes the shards once nothing has changed for seven looks. A lease only decides who
// tries: that nothing is stored twice, the ledgers' compare-and-set decides (pipeline/write/ledger.ts).

import type { ReadResult, RecordBucket, WriteResult } from '../../platform/broker/record-bucket.ts';
import { shardsOwnerKey } from '../../platform/broker/streams.ts';
import type { Log } from '../../platform/log.ts';
import { sleep } from '../../platform/retry.ts';
import type { OwnerRecord } from './owner-record.ts';

/** The owner writes its record anew this long after the last time. */
export const renewEveryMs = 2_000;
/** Whoever waits looks this long after its last look. */
export const lookEveryMs = 1_000;
/**
 * Looks in a row that find the record as it was, before its owner counts as gone. Looks that the broker answers are
 * counted, and no time: a broker that takes no writes robs no owner, nor does a machine that stood still. An owner that
 * misses two renewals keeps the shards. A dead one is replaced after eight seconds at most, the last of its looks
 * included, so that an event is stored within ten.
 */
export const unchangedLooks = 7;
/** A process that lost a shard asks no sooner: whoever took it has had the time to take the others. */
export const restMs = unchangedLooks * lookEveryMs;

export interface LeaseOptions {
  bucket: Pick<RecordBucket<OwnerRecord>, 'get' | 'create' | 'update'>;
  /** A name that no other process ever had. */
  owner: string;
  /** The last owner on this process's data directory. Only one process at a time works on it, so that one is gone. */
  previous?: string;
  /** Called before the owner's name goes to the broker: the next process on this directory must know it. */
  keepName?: (owner: string) => void;
  /** Migrations that this version knows. */
  migrations: number;
  log: Log;
  /** As platform/retry.ts has it. */
  pause?: typeof sleep;
}

export interface Lease {
  /** Resolves once this process has the shards; calls `onWait` while another one has them. Rejects once stopped. */
  take(options: { stop: AbortSignal; onWait(): void }): Promise<Term>;
}

/** The time for which a process has the shards. */
export interface Term {
  /** Aborted once another process has them. */
  lost: AbortSignal;
  /** Asks the broker; rejects where another process has them, and with the broker's errors. */
  requireHeld(): Promise<void>;
  /** Gives them up, so that whoever waits takes them at its next look. Never rejects. */
  end(): Promise<void>;
}

type Renewal = { kind: 'kept'; revision: number } | { kind: 'lost' };

export function createLease(options: LeaseOptions): Lease {
  const { bucket, log, pause = sleep } = options;
  return {
    async take({ stop, onWait }) {
      const looks = new Looks();
      let isFailing = false;
      let isWaiting = false;
      for (;;) {
        stop.throwIfAborted();
        try {
          const read = await bucket.get(shardsOwnerKey);
          isFailing = false;
          if (isFree(options, read, looks.note(read))) {
            const revision = await claim(options, read);
            if (revision !== undefined) return holdTerm(options, revision);
            looks.forget();
          } else {
            onWait();
            if (!isWaiting) log.info('another process has the shards: this one waits for its end');
            isWaiting = true;
          }
        } catch (error) {
          looks.forget();
          if (!isFailing) log.warn({ err: error }, 'the broker does not tell who has the shards');
          isFailing = true;
        }
        await pause(lookEveryMs, stop);
      }
    },
  };
}

/** Looks in a row at which the record was the same. */
class Looks {
  #revision: number | undefined;
  #unchanged = 0;

  note(read: ReadResult<OwnerRecord>): number {
    const revision = read.kind === 'absent' ? 0 : read.revision;
    this.#unchanged = revision === this.#revision ? this.#unchanged + 1 : 0;
    this.#revision = revision;
    return this.#unchanged;
  }

  forget(): void {
    this.#revision = undefined;
  }
}

function isFree(
  { owner, previous, migrations }: LeaseOptions,
  read: ReadResult<OwnerRecord>,
  unchanged: number,
): boolean {
  switch (read.kind) {
    case 'absent':
      return true;
    case 'unreadable':
      // A newer version's.
      return false;
    case 'found': {
      const { record } = read;
      if (record.migrations > migrations) return false;
      const isGone = record.owner === undefined || [owner, previous].includes(record.owner);
      return isGone || unchanged >= unchangedLooks;
    }
    default:
      return read satisfies never;
  }
}

/** The revision of this process's record; undefined where another one was first. */
async function claim(
  options: LeaseOptions,
  read: ReadResult<OwnerRecord>,
): Promise<number | undefined> {
  const { owner, keepName, log } = options;
  keepName?.(owner);
  const written = await write(options, owner, revisionOf(read));
  if (written.kind === 'conflict') return undefined;
  const from = read.kind === 'found' ? read.record.owner : undefined;
  log.info({ owner, ...(from !== undefined && { from }) }, 'this process has the shards');
  return written.revision;
}

/** Undefined where there is no record. */
function revisionOf(read: ReadResult<OwnerRecord>): number | undefined {
  return read.kind === 'absent' ? undefined : read.revision;
}

function write(
  { bucket, migrations }: Pick<LeaseOptions, 'bucket' | 'migrations'>,
  owner: string | undefined,
  over: number | undefined,
): Promise<WriteResult> {
  const name = owner === undefined ? {} : { owner };
  const record: OwnerRecord = { schemaVersion: 1, migrations, ...name };
  return over === undefined
    ? bucket.create(shardsOwnerKey, record)
    : bucket.update(shardsOwnerKey, record, over);
}

function holdTerm(options: LeaseOptions, claimed: number): Term {
  const { log, pause = sleep } = options;
  const lost = new AbortController();
  const over = new AbortController();
  let revision = claimed;
  let isFailing = false;
  const keep = async (): Promise<void> => {
    for (;;) {
      await pause(renewEveryMs, over.signal);
      try {
        const renewal = await renew(options, revision);
        if (renewal.kind === 'lost') break;
        revision = renewal.revision;
        isFailing = false;
      } catch (error) {
        // The next owner's looks fail as well, or the ledgers say that there is one.
        if (!isFailing) log.warn({ err: error }, 'the lease of the shards could not be renewed');
        isFailing = true;
      }
    }
    lost.abort(new Error('another process has the shards'));
  };
  const kept = keep().catch(() => {});
  return {
    lost: lost.signal,
    async requireHeld() {
      const read = await options.bucket.get(shardsOwnerKey);
      if (read.kind !== 'found' || read.record.owner !== options.owner)
        throw new Error('another process has the shards');
    },
    async end() {
      over.abort(new Error('the shards are given up'));
      await kept;
      if (lost.signal.aborted) return;
      await write(options, undefined, revision).catch((error: unknown) => {
        log.warn(
          { err: error },
          'the shards could not be given up: another process takes them later',
        );
      });
    },
  };
}

async function renew(options: LeaseOptions, revision: number): Promise<Renewal> {
  const { bucket, owner } = options;
  const written = await write(options, owner, revision);
  if (written.kind === 'written') return { kind: 'kept', revision: written.revision };
  const read = await bucket.get(shardsOwnerKey);
  // An operator has removed the record.
  if (read.kind === 'absent') {
    const made = await write(options, owner, undefined);
    return { kind: 'kept', revision: made.kind === 'written' ? made.revision : revision };
  }
  // A write whose answer was lost conflicts with itself.
  if (read.kind === 'found' && read.record.owner === owner)
    return { kind: 'kept', revision: read.revision };
  // A cluster's new leader that has not applied its log answers with an older record.
  return read.revision > revision ? { kind: 'lost' } : { kind: 'kept', revision };
}

/** Takes the shards away from processes of an older version. Resolves once an owner that lives has noticed. */
export async function refuseOlderOwners(options: LeaseOptions): Promise<void> {
  const { bucket, migrations, previous, log, pause = sleep } = options;
  for (;;) {
    const read = await bucket.get(shardsOwnerKey);
    if (read.kind === 'unreadable') return;
    if (read.kind === 'found' && read.record.migrations >= migrations) return;
    const written = await write(options, undefined, revisionOf(read));
    if (written.kind === 'conflict') continue;
    if (read.kind === 'absent' || [undefined, previous].includes(read.record.owner)) return;
    log.warn('a process of an older version had the shards: it stores nothing any more');
    return pause(restMs, new AbortController().signal);
  }
}
