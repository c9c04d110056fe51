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
    plainMessage(cause.message, database),
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

function tooLong(): StatementRefusal {
  return new StatementRefusal(codes.limit, 'the statement took too long: ask for less');
}
