// Deletes the messages that are done and still stored. A nats-server 2.9 that is killed forgets the deletions that it
// had not written, and delivers such messages to nobody: kill after kill, they would fill the stream. They are deleted
// one by one, because a purge makes these servers lose the acks of other messages.

import type { Log } from '../../platform/log.ts';
import { sleep, waitAfter } from '../../platform/retry.ts';
import type { Ledger } from '../write/ledger.ts';
import { GivenAnewError } from './given-anew.ts';
import type { StoredMessages } from './queue-state.ts';

interface LeftoverOptions {
  stored: Pick<StoredMessages, 'state' | 'storedMs' | 'delete'>;
  /** The ledger of the writer that has the shard. */
  ledger: Pick<Ledger, 'hwm' | 'newestMs' | 'streamCreated'>;
  shard: number;
  log: Log;
  /** Called where the stream has given sequences anew, whose messages are done by nobody. No look follows. */
  onLost(error: GivenAnewError): void;
}

interface Mark {
  hwm: number;
  newestMs?: number | undefined;
}

/** The most sequences that are tried before the stream is asked again, and before others have their turn. */
const stepMessages = 64;
const atOnce = 16;
const stepPauseMs = 20;
/** The wait between two looks; it doubles while they fail. */
const looks = { baseMs: 3_000, capMs: 60_000 };

/** Looks at once and every few seconds until it is closed. Failures are logged; the writer never waits for it. */
export function watchLeftovers(options: LeftoverOptions): { close(): void } {
  const closed = new AbortController();
  void lookAgain(options, closed.signal);
  return { close: () => closed.abort(new Error('the writer has ended')) };
}

async function lookAgain(options: LeftoverOptions, closed: AbortSignal): Promise<void> {
  const { stored, ledger, shard, log } = options;
  const markNow = (): Mark => ({ hwm: ledger.hwm, newestMs: ledger.newestMs });
  let failures = 0;
  let mark = markNow();
  while (!closed.aborted) {
    try {
      const { streamCreated } = ledger;
      const deleted = await deleteLeftovers(stored, { streamCreated, ...mark }, closed);
      if (deleted > 0) log.info({ shard, deleted }, 'deleted messages that the broker had kept');
      failures = 0;
    } catch (error) {
      if (error instanceof GivenAnewError) return options.onLost(error);
      failures++;
      if (!closed.aborted) log.warn({ shard, err: error }, 'messages that are done stay stored');
    }
    // Messages that are done since the last look may still be acked: they wait for the next one. What a stream has
    // given anew by then is newer than this mark, though not than later ones.
    mark = markNow();
    await sleep(waitAfter(failures + 1, looks, Math.random()), closed).catch(() => {});
  }
}

/**
 * Deletes every message up to the ledger's mark; returns how many there were. Rejects where the stream is another one
 * than the ledger's, or has given sequences anew, or where the broker fails.
 */
export async function deleteLeftovers(
  stored: LeftoverOptions['stored'],
  { streamCreated, hwm, newestMs }: Mark & Pick<Ledger, 'streamCreated'>,
  signal: AbortSignal,
): Promise<number> {
  let deleted = 0;
  let deletedTo = 0;
  while (!signal.aborted) {
    const { created, messages, firstSeq, lastSeq } = await stored.state();
    if (messages === 0 || firstSeq > hwm) break;
    // Its sequences say nothing about these messages: nobody may have stored their events.
    if (created !== streamCreated) throw new Error('not the stream of the ledger');
    if (lastSeq < hwm) {
      await requireOld(stored, [firstSeq], newestMs);
      throw new Error('not the stream of the ledger: it ends before the mark');
    }
    if (firstSeq <= deletedTo) throw new Error(`the broker does not delete message ${firstSeq}`);
    deletedTo = Math.min(hwm, firstSeq + stepMessages - 1);
    for (let from = firstSeq; from <= deletedTo; from += atOnce) {
      const count = Math.min(atOnce, deletedTo - from + 1);
      const seqs = Array.from({ length: count }, (_, index) => from + index);
      await requireOld(stored, seqs, newestMs);
      const found = await Promise.all(seqs.map((seq) => stored.delete(seq)));
      deleted += found.filter(Boolean).length;
    }
    await sleep(stepPauseMs, signal);
  }
  return deleted;
}

async function requireOld(
  stored: Pick<StoredMessages, 'storedMs'>,
  seqs: readonly number[],
  newestMs: number | undefined,
): Promise<void> {
  if (newestMs === undefined) return;
  const storedMs = await Promise.all(seqs.map((seq) => stored.storedMs(seq)));
  const at = storedMs.findIndex((ms) => ms !== undefined && ms > newestMs);
  const seq = seqs[at];
  if (seq !== undefined) throw new GivenAnewError({ seq, newestMs });
}
