// Sends one mail over Resend's HTTP interface (https://resend.com/docs/api-reference/emails/send-email). Does not try
// again.

import { randomUUID } from 'node:crypto';
import { request } from 'undici';
import { type Mail, type MailOutcome, unsubscribeHeaders } from './mail.ts';
import { type Mailbox, mailboxText } from './mailbox.ts';
import { serverWords } from './server-words.ts';

const publicUrl = 'https://api.resend.com';
const timeoutMs = 10_000;
const maxAnswerBytes = 16_384;
const maxReasonBytes = 200;

export async function sendByResend(
  apiKey: string,
  from: Mailbox,
  replyTo: Mailbox | undefined,
  mail: Mail,
  url = publicUrl,
): Promise<MailOutcome> {
  try {
    const { statusCode, body } = await request(`${url}/emails`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': mail.messageId ?? randomUUID(),
      },
      body: JSON.stringify({
        from: mailboxText(from),
        to: [mail.to],
        subject: mail.subject,
        text: mail.text,
        html: mail.html,
        ...(mail.unsubscribeUrl !== undefined && { headers: unsubscribeHeaders(mail) }),
        ...(replyTo !== undefined && { reply_to: mailboxText(replyTo) }),
      }),
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (statusCode >= 200 && statusCode < 300) {
      await body.dump({ limit: maxAnswerBytes });
      return { kind: 'sent' };
    }
    const reason = `Resend answers ${statusCode}: ${serverWords(await beginningOf(body))}`;
    const later = statusCode === 429 || statusCode >= 500;
    return { kind: later ? 'unavailable' : 'refused', reason };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: 'unavailable', reason: `Resend cannot be reached: ${serverWords(reason)}` };
  }
}

async function beginningOf(body: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const chunk of body) {
    text += chunk.toString('utf8', 0, maxReasonBytes);
    if (text.length >= maxReasonBytes) break;
  }
  return text;
}
