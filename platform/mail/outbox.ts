// Mails on their way that no request waits for: kept in memory in the lanes of lanes.ts, and tried again while the
// server cannot be reached. A mail that is here when the process is killed is lost; its receiver asks for it again.

import type { Log } from '../log.ts';
import { retry } from '../retry.ts';
import { createMailLanes } from './lanes.ts';
import type { Mail, MailSender } from './mail.ts';
import type { SenderOrigin, SendMail } from './send.ts';

interface OutgoingMail {
  /** A word for the log. */
  about: string;
  sender: MailSender;
  origin: SenderOrigin;
  /** The owner of the mail server, where `origin` is an organization. */
  organizationId?: string;
  mail: Mail;
}

export interface Outbox {
  /** False where the queue of that mail server, or all of them together, is full: nothing was queued. */
  add(mail: OutgoingMail): boolean;
  /** Resolves when nothing is queued or under way. */
  idle(): Promise<void>;
  /** Gives queued mails `graceMs` to leave, then drops them. */
  close(graceMs: number): Promise<void>;
}

// About three minutes in all.
const maxAttempts = 6;
const defaultBaseMs = 5_000;
const capMs = 60_000;

export function createOutbox(options: {
  send: SendMail;
  log: Log;
  /** The wait after the first failure. */
  retryBaseMs?: number;
}): Outbox {
  const { send, log } = options;
  const stop = new AbortController();
  const deliver = ({ about, sender, origin, mail }: OutgoingMail): Promise<void> =>
    retry(
      async () => {
        const outcome = await send(sender, origin, mail);
        if (outcome.kind === 'unavailable') throw new Error(outcome.reason);
        if (outcome.kind === 'refused') log.warn({ about, reason: outcome.reason }, 'mail refused');
      },
      { signal: stop.signal, baseMs: options.retryBaseMs ?? defaultBaseMs, capMs, onFailure },
    ).catch((error: unknown) => log.error({ about, err: error }, 'mail given up'));
  const lanes = createMailLanes<OutgoingMail>(deliver);
  return {
    add(mail) {
      if (stop.signal.aborted) return false;
      return lanes.add(mail.origin === 'instance' ? undefined : (mail.organizationId ?? ''), mail);
    },
    idle: lanes.idle,
    async close(graceMs) {
      const giveUp = (): void => {
        lanes.drop();
        stop.abort(new Error('the process ends'));
      };
      const timer = setTimeout(giveUp, graceMs);
      await lanes.idle();
      clearTimeout(timer);
      giveUp();
    },
  };
}

function onFailure({ error, attempt }: { error: unknown; attempt: number }): void {
  if (attempt >= maxAttempts) throw error;
}
