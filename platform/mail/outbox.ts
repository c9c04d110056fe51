// Mails on their way that no request waits for: kept in memory in the lanes of lanes.ts, and tried again while the
// server cannot be reached. A mail that is here when the process is killed is lost; its receiver asks for it again.

import type { Log } from '../log.ts';
import { waitAfter } from '../retry.ts';
import { createMailLanes, type MailPool } from './lanes.ts';
import type { Mail, MailOutcome, MailSender } from './mail.ts';
import type { SenderOrigin, SendMail } from './send.ts';

/** `about` is a word for the log; each kind of an organization's or a customer's mails has a lane of its own. */
export type OutgoingMail = { sender: MailSender; mail: Mail } & (
  | { about: 'magic link'; origin: 'instance' }
  | { about: 'second factor'; origin: 'instance'; customerId: string }
  | { about: 'invitation' | 'report'; origin: SenderOrigin; organizationId: string }
);

export interface Outbox {
  /** False where the mail's queue is full: nothing was queued. */
  add(mail: OutgoingMail): boolean;
  /** Whether `add` would take a sign-in link: asked before anybody looks at whose address it is. */
  hasRoomForLink(): boolean;
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
  const { log } = options;
  const bounds = { baseMs: options.retryBaseMs ?? defaultBaseMs, capMs };
  let closed = false;
  const lanes = createMailLanes<{ outgoing: OutgoingMail; attempts: number }>(async (entry) => {
    const { about, sender, origin, mail } = entry.outgoing;
    const outcome = await outcomeOf(options.send(sender, origin, mail));
    if (outcome.kind === 'sent') return undefined;
    const { kind, reason } = outcome;
    if (kind === 'refused' || ++entry.attempts >= maxAttempts) {
      log.warn({ about, reason }, kind === 'refused' ? 'mail refused' : 'mail given up');
      return undefined;
    }
    return { againInMs: waitAfter(entry.attempts, bounds, Math.random()) };
  });
  return {
    add(outgoing) {
      if (closed) return false;
      return lanes.add(poolOf(outgoing), laneOf(outgoing), { outgoing, attempts: 0 });
    },
    hasRoomForLink: () => !closed && lanes.hasRoom('sign-in', 'magic link'),
    idle: lanes.idle,
    async close(graceMs) {
      const giveUp = (): void => {
        closed = true;
        lanes.drop();
      };
      const timer = setTimeout(giveUp, graceMs);
      await lanes.idle();
      clearTimeout(timer);
      giveUp();
    },
  };
}

function poolOf(mail: OutgoingMail): MailPool {
  if (mail.about === 'magic link') return 'sign-in';
  return mail.origin === 'instance' ? 'instance server' : 'own server';
}

function laneOf(mail: OutgoingMail): string {
  switch (mail.about) {
    case 'magic link':
      return mail.about;
    case 'second factor':
      return `${mail.about} ${mail.customerId}`;
    case 'invitation':
    case 'report':
      return `${mail.about} ${mail.organizationId}`;
    default:
      return mail satisfies never;
  }
}

/** Never rejects: what went wrong is an outcome. */
export async function outcomeOf(sending: Promise<MailOutcome>): Promise<MailOutcome> {
  try {
    return await sending;
  } catch (error) {
    // A full disk, for a mail that becomes a file.
    return { kind: 'unavailable', reason: error instanceof Error ? error.message : String(error) };
  }
}
