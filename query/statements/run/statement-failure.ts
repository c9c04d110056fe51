// Turns what the engine says of a failed statement into what its caller reads: the engine's own code and sentence where
// the statement is at fault, without what names our tables, and other codes where drivers would run it again.

import { ClickHouseError } from '@clickhouse/client';
import { lackOfMemory, timeoutErrors } from '../../../platform/clickhouse/select-rows.ts';
import type { Log } from '../../../platform/log.ts';
import { codes, StatementRefusal } from '../refusal.ts';
import { databaseName } from '../views/catalogue.ts';

/** Codes that a driver answers by asking again (out of ClickHouse's Java client), which no refusal may have. */
const retried: ReadonlySet<string> = new Set(
  '3 107 159 164 202 203 209 210 241 242 252 285 319 425 999'.split(' '),
);
/** From here on the engine tells of its plan, and so of our tables. */
const innerPart =
  /(?::\s*)?(?:\bwhile (?:executing|processing|reading)|\bIn scope\b|\(in file|: While )/i;
/** Of a syntax error: its word, and its place, where EXPLAIN stands in a line before the statement's first. */
const syntaxPlace = /failed at position \d+ \((.*?)\) \(line (\d+), col (\d+)\)/s;
/** A word that is a sign: after an open quote, others may be parts of a path. */
const sign = /^[().,;:=<>!+*%@#$&|[\]{}-]{1,2}$/;
const syntaxHint = /\. (?:Expected one of|Unmatched parentheses): [^\n]*$/;
const syntaxCode = String(codes.syntax.code);
const maxMessageCharacters = 2_000;

/** `database`: the project's own, whose name callers do not know. */
export function statementFailure(cause: unknown, database: string, log: Log): StatementRefusal {
  if (cause instanceof StatementRefusal) return cause;
  if (cause instanceof ClickHouseError) return ofEngine(cause, database, log);
  if (cause instanceof Error && (cause.name === 'TimeoutError' || cause.name === 'AbortError')) {
    return tooLong();
  }
  log.warn({ err: cause }, 'a statement failed: the event store cannot be reached');
  return new StatementRefusal(codes.away, 'the event store cannot be reached, try again');
}

function ofEngine(cause: ClickHouseError, database: string, log: Log): StatementRefusal {
  log.debug({ clickhouseCode: cause.code, clickhouseError: cause.type }, 'a statement failed');
  if (timeoutErrors.has(cause.type ?? '')) return tooLong();
  if (cause.type === 'MEMORY_LIMIT_EXCEEDED') {
    return lackOfMemory(cause) === 'engine'
      ? new StatementRefusal(codes.limit, 'the event store is busy: ask again later')
      : new StatementRefusal(codes.limit, 'the statement takes too much memory: ask for less');
  }
  const code = Number(cause.code);
  if (retried.has(cause.code) || !Number.isSafeInteger(code)) {
    return new StatementRefusal(codes.notAllowed, 'the event store does not allow this statement');
  }
  return new StatementRefusal(
    { code, name: cause.type ?? 'UNKNOWN' },
    cause.code === syntaxCode
      ? syntaxMessage(cause.message)
      : plainMessage(cause.message, database),
  );
}

function plainMessage(message: string, database: string): string {
  const inner = innerPart.exec(message)?.index ?? message.length;
  return message
    .slice(0, inner)
    .replaceAll(database, databaseName)
    .replace(/\bsys_(\w+)/g, 'system.$1')
    .slice(0, maxMessageCharacters)
    .trim();
}

/**
 * Without the rest of the text, which the engine shows with what it has put behind the statement: a clause that names a
 * file (sql/engine/statement).
 */
function syntaxMessage(message: string): string {
  const [, kind = ''] = /^([A-Z][\w ]{0,60}: )Syntax error/.exec(message) ?? [];
  const [, word = '', line = '', column = ''] = syntaxPlace.exec(message) ?? [];
  const [hint = ''] = syntaxHint.exec(message) ?? [];
  const shown = sign.test(word) ? `${word} ` : '';
  const place = line === '' ? '' : `: failed at ${shown}(line ${Number(line) - 1}, col ${column})`;
  return `${kind}Syntax error${place}${hint}`.slice(0, maxMessageCharacters);
}

function tooLong(): StatementRefusal {
  return new StatementRefusal(codes.limit, 'the statement took too long: ask for less');
}
