// Tells the admins of an organization by mail which deliveries of its webhooks failed for good and which webhooks were
// paused. What happened is written down first (notice-record.ts), and mails are sent from that record: a killed process
// loses none, and processes that share the work send each once.

import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { retry, sleep } from '../../platform/retry.ts';
import type { AttemptRecord } from '../../platform/webhooks/attempt-record.ts';
import type { PauseReason, WebhookRecord } from '../../platform/webhooks/webhook-record.ts';
import { createCombinedWrites } from './combined-writes.ts';
import { isEmpty } from './due-notice.ts';
import {
  changeNotices,
  type FreshNotices,
  type NoticeBucket,
  nothingToTell,
  withFresh,
} from './notice-record.ts';
import { createSendNotices, type NoticeMailOptions } from './send-notices.ts';

/** A delivery whose last attempt has failed. */
export interface ExhaustedFact {
  organizationId: string;
  webhookId: string;
  record: Pick<
    AttemptRecord,
    'deliveryId' | 'eventType' | 'responseCode' | 'error' | 'acceptTimeMs'
  >;
}

export interface PausedFact {
  organizationId: string;
  webhook: Pick<WebhookRecord, 'id'>;
  reason: PauseReason;
}

export interface Notices {
  /**
   * Resolves once the broker has it, after up to a second where many fail; then no restart loses it. Never rejects:
   * what cannot be written for half a minute is logged, because no attempt may be repeated for the sake of a mail.
   */
  exhausted(fact: ExhaustedFact): Promise<void>;
  /** As `exhausted`. Comes before the webhook's record says so, and from each process that sees it. */
  pausing(fact: PausedFact): Promise<void>;
  /** The record says so: the mail need not wait for the sweep. */
  paused(fact: Pick<PausedFact, 'organizationId'>): void;
  /** Sends what is due in all organizations. It runs every minute by itself. */
  sweep(): Promise<void>;
  /** Resolves when what is being written and sent is done, after five seconds at the latest. */
  stop(): Promise<void>;
}

export type NoticesOptions = NoticeMailOptions & {
  bucket: NoticeBucket;
  clock: Clock;
  log: Log;
  /** Facts of an organization that come faster are written together; a second. */
  writeEveryMs?: number;
};

/** All organizations are looked at for notices that are due, so many at once. */
const sweepEveryMs = 60_000;
const sweepAtOnce = 8;
const usualWriteEveryMs = 1_000;
const maxWriteMs = 30_000;
/** A mail that takes longer goes out again once its lease is over. */
const graceMs = 5_000;

export function createNotices(options: NoticesOptions): Notices {
  const { bucket, clock, log } = options;
  const sendNotices = createSendNotices(options);
  const underWay = new Set<Promise<void>>();
  const track = (work: Promise<void>): Promise<void> => {
    const tracked = work.finally(() => underWay.delete(tracked));
    underWay.add(tracked);
    return tracked;
  };
  const check = async (organizationId: string): Promise<void> => {
    try {
      await sendNotices(organizationId);
    } catch (error) {
      log.warn({ err: error, organizationId }, 'notices of webhooks are not sent yet');
    }
  };
  const write = createCombinedWrites(async (organizationId, fresh) => {
    try {
      await retry(
        () => changeNotices(bucket, organizationId, (record) => withFresh(record, fresh)),
        { signal: AbortSignal.timeout(maxWriteMs), baseMs: 250, capMs: 5_000 },
      );
      void track(check(organizationId));
    } catch (error) {
      log.error({ err: error, organizationId, webhooks: fresh.size }, 'a notice is lost');
    }
  }, options.writeEveryMs ?? usualWriteEveryMs);
  const sweep = async (): Promise<void> => {
    const noted = [...bucket.records()].filter(([, record]) => !isEmpty(record)).values();
    const worker = async (): Promise<void> => {
      for (const [organizationId] of noted) await check(organizationId);
    };
    await Promise.all(Array.from({ length: sweepAtOnce }, worker));
  };
  let isSweeping = false;
  const timer = setInterval(() => {
    if (isSweeping) return;
    isSweeping = true;
    const swept = sweep()
      .catch((error: unknown) => log.warn({ err: error }, 'notices are not looked for'))
      .finally(() => {
        isSweeping = false;
      });
    void track(swept);
  }, sweepEveryMs);
  return {
    exhausted: ({ organizationId, webhookId, record }) =>
      track(write(organizationId, webhookId, failed(record, clock.nowMs()))),
    pausing({ organizationId, webhook, reason }) {
      const pause = { reason, timeMs: clock.nowMs() };
      return track(write(organizationId, webhook.id, { ...nothingToTell, pause }));
    },
    paused: ({ organizationId }) => void track(check(organizationId)),
    sweep,
    async stop() {
      clearInterval(timer);
      const grace = new AbortController();
      const over = sleep(graceMs, grace.signal).catch(() => {});
      const done = async (): Promise<void> => {
        while (underWay.size > 0) await Promise.all(underWay);
      };
      await Promise.race([done(), over]);
      grace.abort();
    },
  };
}

function failed(record: ExhaustedFact['record'], nowMs: number): FreshNotices {
  const { deliveryId, eventType, responseCode, error, acceptTimeMs } = record;
  const last = { deliveryId, eventType, responseCode, error };
  return { exhausted: 1, firstTimeMs: acceptTimeMs, lastTimeMs: nowMs, last };
}
