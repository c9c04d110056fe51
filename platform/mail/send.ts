// Sends one mail through one sender, once. Trying again is outbox.ts. The libraries are loaded with the first mail:
// most processes send none, and each garbage collection walks every object that a process holds.

import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { BlockList } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Mail, MailOutcome, MailSender } from './mail.ts';

interface SendOptions {
  clock: Clock;
  log: Log;
  /** Networks that organizations' mail servers may be in besides the public internet. */
  allowedNetworks: BlockList;
  /** Certificates of authorities trusted besides the system's, PEM. */
  extraCertificates?: string;
  /** Address of Resend's interface, without a slash at the end. */
  resendUrl?: string;
}

/** Who vouches for the sender: the operator, or an organization, whose servers are vetted. */
export type SenderOrigin = 'instance' | 'organization';

export type SendMail = (
  sender: MailSender,
  origin: SenderOrigin,
  mail: Mail,
) => Promise<MailOutcome>;

/** The returned function takes at most 20 s, and never throws for a fault of the mail server. */
export function createSendMail(options: SendOptions): SendMail {
  return async (sender, origin, mail) => {
    const { transport } = sender;
    const message = {
      to: mail.to,
      subject: mail.subject,
      alternatives: [part('text/plain', mail.text), part('text/html', mail.html)],
      from: sender.fromAddress,
      ...(sender.replyTo !== undefined && { replyTo: sender.replyTo }),
      date: new Date(options.clock.nowMs()),
      // No part of a message may make nodemailer read a file or fetch an address.
      disableFileAccess: true,
      disableUrlAccess: true,
      headers: { 'Auto-Submitted': 'auto-generated' },
    };
    switch (transport.kind) {
      case 'smtp': {
        const { sendBySmtp } = await import('./smtp.ts');
        return sendBySmtp(transport, message, {
          extraCertificates: options.extraCertificates,
          vetAgainst: origin === 'organization' ? options.allowedNetworks : undefined,
        });
      }
      case 'resend': {
        const { sendByResend } = await import('./resend.ts');
        return sendByResend(transport.apiKey, sender, mail, options.resendUrl);
      }
      case 'file':
        return writeEml(transport.directory, message, options);
      default:
        return transport satisfies never;
    }
  };
}

// By default nodemailer encodes every text with a line over 76 characters, and nobody could copy an encoded link out of
// a file. Lines up to 998 characters are allowed, so such a part is written as it is.
function part(type: string, text: string): object {
  const contentType = `${type}; charset=utf-8`;
  const lines = text.split('\n');
  if (lines.some((line) => line.length > 900 || !/^[\x20-\x7e]*$/.test(line))) {
    return { contentType, content: text };
  }
  const head = [`Content-Type: ${contentType}`, 'Content-Transfer-Encoding: 7bit', ''];
  return { raw: [...head, ...lines].join('\r\n') };
}

async function writeEml(
  directory: string,
  message: object,
  options: SendOptions,
): Promise<MailOutcome> {
  const { createTransport } = await import('nodemailer');
  const composer = createTransport({ streamTransport: true, buffer: true });
  const { message: bytes } = await composer.sendMail(message);
  if (!Buffer.isBuffer(bytes)) throw new Error('the composed mail is not in memory');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const time = new Date(options.clock.nowMs()).toISOString().replaceAll(':', '-');
  const file = join(directory, `${time}-${randomUUID().slice(0, 8)}.eml`);
  writeFileSync(file, bytes, { mode: 0o600, flag: 'wx' });
  options.log.info({ file }, 'no mail server is configured: the mail is in this file');
  return { kind: 'sent' };
}
