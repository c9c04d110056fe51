// Reads the outcome of one try over SMTP: whether another may end better, and what people get to see of the server's
// answer.

import type { MailOutcome } from './mail.ts';
import { serverWords } from './server-words.ts';

/**
 * `operator`: the server of the instance, nothing is vetted. `public`: an organization's in the public internet.
 * `exception`: an organization's elsewhere, where the operator lets its mail go.
 */
export type TargetKind = 'operator' | 'public' | 'exception';

// A 4xx from the server asks for another try. So does every failure before its answer, except a login or a certificate
// that will be no better next time.
export function outcomeOf(error: unknown, target: TargetKind): MailOutcome {
  if (error === undefined) return { kind: 'sent' };
  const status = statusIn(error);
  const failure = failureOf(error);
  const lasting = status === undefined ? failure.lasting : status >= 500;
  // An organization reads the words of a mail server in the public internet, about its login and its mail. All else
  // may be the greeting of something that is no mail server, inside or on this machine's own public address.
  const words =
    target === 'operator' || (target === 'public' && failure.answered && status !== undefined);
  const reason = words
    ? serverWords(error instanceof Error ? error.message : String(error))
    : `${failure.text}${status === undefined ? '' : `: SMTP ${status}`}`;
  return { kind: lasting ? 'refused' : 'unavailable', reason };
}

/** SMTP's number, where the server answered with one. Any other number is part of a text that is no answer. */
function statusIn(error: unknown): number | undefined {
  const status = field(error, 'responseCode');
  return typeof status === 'number' && status >= 200 && status < 600 ? status : undefined;
}

interface Failure {
  text: string;
  /** Another try would end the same way. */
  lasting: boolean;
  /** The server spoke SMTP up to here. */
  answered: boolean;
}

function failureOf(error: unknown): Failure {
  const [code, original] = codesOf(error);
  if (typeof original === 'string' && /CERT|VERIFY/.test(original)) {
    const text = 'the mail server has no valid certificate for its name';
    return { text, lasting: true, answered: false };
  }
  switch (code) {
    case 'EAUTH':
    case 'ENOAUTH':
      return { text: 'the mail server refuses the login', lasting: true, answered: true };
    case 'EENVELOPE':
    case 'EMESSAGE':
      return { text: 'the mail server refuses the mail', lasting: true, answered: true };
    case 'ETLS':
      return { text: 'the mail server offers no verified TLS', lasting: true, answered: false };
    default:
      return { text: 'no mail server answers', lasting: false, answered: false };
  }
}

/** The mail library's code, and the one of Node that it stands for. */
export function codesOf(error: unknown): readonly unknown[] {
  return [field(error, 'code'), field(error, 'originalCode')];
}

function field(from: unknown, name: string): unknown {
  return typeof from === 'object' && from !== null ? Reflect.get(from, name) : undefined;
}
