// Sends one mail through one sender, once. Trying again is outbox.ts. The libraries are loaded with the first mail:
// most processes send none, and each garbage collection walks every object that a process holds.

import type { BlockList } from 'node:net';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { networks } from '../private-networks.ts';
import { writeEmlFile } from './eml-files.ts';
import { createDnsInternet, type Internet, systemInternet } from './internet.ts';
import { type Mail, type MailOutcome, type MailSender, unsubscribeHeaders } from './mail.ts';
import { readMailbox } from './mailbox.ts';

interface SendOptions {
  clock: Clock;
  log: Log;
  /** Networks that organizations' mail servers may be in besides the public internet. */
  allowedNetworks: BlockList;
  /** Certificates of authorities trusted besides the system's, PEM. */
  extraCertificates?: string;
  /** Address of Resend's interface, without a slash at the end. */
  resendUrl?: string;
  /** Stands for the real one in tests. */
  internet?: Internet;
}

/**
 * Who vouches for the sender's address: the operator; a person at this machine, who reaches its networks anyway; or an
 * organization, whose servers must be in the public internet or in `allowedNetworks`.
 */
export type SenderOrigin = 'instance' | 'this machine' | 'organization';

const allNetworks = networks(['0.0.0.0/0', '::/0']);

export type SendMail = (
  sender: MailSender,
  origin: SenderOrigin,
  mail: Mail,
) => Promise<MailOutcome>;

/** The returned function takes at most 40 s, and never throws for a fault of the mail server. */
export function createSendMail(options: SendOptions): SendMail {
  const dns = createDnsInternet({});
  return async (sender, origin, mail) => {
    const { transport } = sender;
    const from = readMailbox(sender.fromAddress);
    const replyTo = sender.replyTo === undefined ? undefined : readMailbox(sender.replyTo);
    if (from === undefined || (sender.replyTo !== undefined && replyTo === undefined)) {
      return { kind: 'refused', reason: 'the sender is not one mailbox: set it again' };
    }
    const message = {
      // Objects are not parsed: no text of theirs makes a second address, in the headers or in the envelope.
      from,
      to: { name: '', address: mail.to },
      ...(replyTo !== undefined && { replyTo }),
      envelope: { from: from.address, to: [mail.to] },
      subject: mail.subject,
      ...(mail.messageId !== undefined && {
        messageId: `<${mail.messageId}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
      }),
      alternatives: [part('text/plain', mail.text), part('text/html', mail.html)],
      date: new Date(options.clock.nowMs()),
      // No part of a message may make nodemailer read a file or fetch an address.
      disableFileAccess: true,
      disableUrlAccess: true,
      headers: { 'Auto-Submitted': 'auto-generated', ...unsubscribeHeaders(mail) },
    };
    switch (transport.kind) {
      case 'smtp': {
        const { sendBySmtp } = await import('./smtp.ts');
        return sendBySmtp(transport, message, {
          extraCertificates: options.extraCertificates,
          ...vettingOf(origin, options.allowedNetworks, dns),
          ...(options.internet !== undefined && { internet: options.internet }),
        });
      }
      case 'resend': {
        const { sendByResend } = await import('./resend.ts');
        return sendByResend(transport.apiKey, from, replyTo, mail, options.resendUrl);
      }
      case 'file':
        return writeEml(transport.directory, message, options);
      default:
        return transport satisfies never;
    }
  };
}

function vettingOf(
  origin: SenderOrigin,
  allowedNetworks: BlockList,
  dns: Internet,
): { vetAgainst: BlockList | undefined; internet: Internet } {
  switch (origin) {
    case 'instance':
      return { vetAgainst: undefined, internet: systemInternet };
    case 'this machine':
      return { vetAgainst: allNetworks, internet: systemInternet };
    case 'organization':
      return { vetAgainst: allowedNetworks, internet: dns };
    default:
      return origin satisfies never;
  }
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
  const file = writeEmlFile(directory, bytes, options.clock.nowMs());
  options.log.info({ file }, 'no mail server is configured: the mail is in this file');
  return { kind: 'sent' };
}
