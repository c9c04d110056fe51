// Floods of mails, and servers that hang or put off: the mails of others go on. Sending is gated, never timed.

import { expect, it } from 'vitest';
import { createLog } from '../log.ts';
import type { MailOutcome } from './mail.ts';
import { createOutbox, type Outbox, type OutgoingMail } from './outbox.ts';
import type { SenderOrigin } from './send.ts';

const log = createLog('silent');
const sender = {
  transport: { kind: 'resend', apiKey: 'x' },
  fromAddress: 'a@example.com',
} as const;

function mailTo(to: string) {
  return { sender, mail: { to, subject: '', text: '', html: '' } };
}

function link(to: string): OutgoingMail {
  return { about: 'magic link', origin: 'instance', ...mailTo(to) };
}

function invitation(to: string, organizationId: string, origin: SenderOrigin): OutgoingMail {
  return { about: 'invitation', origin, organizationId, ...mailTo(to) };
}

/** Mails to `hangs` are under way until `release`; those to `later` are put off; all others leave at once. */
function outboxWith(retryBaseMs = 60_000): {
  outbox: Outbox;
  sent: string[];
  release: () => void;
} {
  const sent: string[] = [];
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const send = async (to: string): Promise<MailOutcome> => {
    if (to === 'hangs') await gate;
    if (to === 'later') return { kind: 'unavailable', reason: 'come back later' };
    sent.push(to);
    return { kind: 'sent' };
  };
  const outbox = createOutbox({ log, retryBaseMs, send: (_, __, { to }) => send(to) });
  return { outbox, sent, release };
}

/** Adds until the queue is full; the number of mails that it took. */
function fill(add: () => boolean): number {
  let count = 0;
  while (add()) expect(++count).toBeLessThan(10_000);
  return count;
}

it('a flood of one organization’s invitations holds up no sign-in link and no other organization', async () => {
  for (const origin of ['instance', 'organization'] as const) {
    const { outbox, sent, release } = outboxWith();
    expect(fill(() => outbox.add(invitation('hangs', 'a', origin)))).toBe(104);
    expect(outbox.add(invitation('bob', 'b', origin))).toBe(true);
    expect(outbox.add(link('ada'))).toBe(true);
    await expect.poll(() => sent).toEqual(expect.arrayContaining(['bob', 'ada']));
    release();
    await outbox.idle();
  }
});

it('a flood of sign-in links holds up no invitation', async () => {
  const { outbox, sent, release } = outboxWith();
  expect(fill(() => outbox.add(link('hangs')))).toBe(1_004);
  outbox.add(invitation('ada', 'a', 'instance'));
  outbox.add(invitation('bob', 'a', 'organization'));
  await expect.poll(() => sent).toEqual(['ada', 'bob']);
  release();
  await outbox.idle();
});

it('dead servers of many organizations hold up no mail over the instance’s server', async () => {
  const { outbox, sent, release } = outboxWith();
  let organization = 0;
  const taken = fill(() =>
    outbox.add(invitation('hangs', `own ${organization++ % 50}`, 'organization')),
  );
  expect(taken).toBeLessThan(4_100);
  outbox.add(invitation('ada', 'a', 'instance'));
  outbox.add(link('bob'));
  await expect.poll(() => sent).toEqual(['ada', 'bob']);
  release();
  await outbox.idle();
});

it('a mail that is put off does not hold its place while it waits', async () => {
  const { outbox, sent } = outboxWith();
  for (let count = 0; count < 100; count++) outbox.add(link('later'));
  outbox.add(link('ada'));
  await expect.poll(() => sent).toEqual(['ada']);
  // Mails that wait count: a server that is down fills its queue, and no memory.
  expect(fill(() => outbox.add(link('later')))).toBeLessThan(1_004);
  await outbox.close(0);
});

it('mails that wait are tried again, and given up in the end', async () => {
  const { outbox, sent } = outboxWith(1);
  outbox.add(link('later'));
  outbox.add(link('ada'));
  await outbox.idle();
  expect(sent).toEqual(['ada']);
});
