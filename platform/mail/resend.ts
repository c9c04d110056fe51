// Sends one mail over Resend's HTTP interface (https://resend.com/docs/api-reference/emails/send-email). Does not try
// again.

import { randomUUID } from 'node:crypto';
import { request } from 'undici';
import type { Mail, MailOutcome, MailSender } from './mail.ts';

const publicUrl = 'https://api.resend.com';
const timeoutMs = 10_000;
const maxAnswerBytes = 16_384;
const maxReasonCharacters = 200;

export async function sendByResend(
  apiKey: string,
  sender: MailSender,
  mail: Mail,
  url = publicUrl,
): Promise<MailOutcome> {
  try {
    const { statusCode, body } = await request(`${url}/emails`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body: JSON.stringify({
        from: sender.fromAddress,
        to: [mail.to],
        subject: mail.subject,
        text: mail.text,
        html: mail.html,
        ...(sender.replyTo !== undefined && { reply_to: sender.replyTo }),
      }),
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (statusCode >= 200 && statusCode < 300) {
      await body.dump({ limit: maxAnswerBytes });
      return { kind: 'sent' };
    }
    const reason = `Resend answers ${statusCode}: ${await firstCharacters(body)}`;
    const later = statusCode === 429 || statusCode >= 500;
    return { kind: later ? 'unavailable' : 'refused', reason };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: 'unavailable', reason: `Resend cannot be reached: ${reason}` };
  }
}

async function firstCharacters(body: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const chunk of body) {
    text += chunk.toString('utf8');
    if (text.length >= maxReasonCharacters) break;
  }
  return text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, maxReasonCharacters);
}
