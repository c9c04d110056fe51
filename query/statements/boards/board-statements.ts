// Statements that stand on dashboards: judged when they are saved and each time they run, by the same judge, within the
// same limits and in the same places as those of POST /sql. Their answers are rows as texts, for a page or a mail.

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Groups } from '../../../platform/clickhouse/groups.ts';
import type { Log } from '../../../platform/log.ts';
import {
  type StatementAnswer,
  StatementAnswerSchema,
} from '../../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import type { StatementAsked } from '../dialect/statement-request.ts';
import { readStatementText } from '../judge/statement-text.ts';
import { codes, notAllowed, StatementRefusal } from '../refusal.ts';
import type { JudgedStatement, StatementLimits, Statements } from '../run/run-statement.ts';
import { statementFailure } from '../run/statement-failure.ts';
import type { StatementTurns } from '../run/statement-turns.ts';
import { databaseOf } from '../views/project-views.ts';
import { tableQuestion } from '../views/table-question.ts';

/** What {from:DateTime64}, {to:DateTime64} and {timezone:String} stand for. */
interface StatementTime {
  fromMs: number;
  toMs: number;
  timezone: string;
}

export interface AskedStatement {
  projectId: string;
  sql: string;
  time: StatementTime;
  signal: AbortSignal;
}

export interface BoardStatements {
  /** Throws invalid_argument with what is wrong with the statement, and unavailable where nobody can judge it. */
  check(projectId: string, sql: string): Promise<void>;
  /**
   * Throws invalid_argument for a statement that is refused, resource_exhausted for one that needs too much or waited
   * too long for its place, unavailable where the store is away, and the signal's reason.
   */
  run(asked: AskedStatement): Promise<StatementAnswer>;
}

interface Parts {
  /** Undefined in a process without a store, which checks texts alone: the parser judges when the statement runs. */
  groups: Groups<Statements> | undefined;
  turns: StatementTurns;
  limits: StatementLimits;
  log: Log;
}

/** What a tile can show; whoever wants more takes it from POST /sql. */
const maxRows = 1_000;
/** Of the engine's memory; as JSON an answer may be twice as long. */
const maxAnswerBytes = 2_097_152;
const maxAnswerCharacters = 2 * maxAnswerBytes;
const format = 'JSONCompact';
/** One at a time of all boards of a project, so that one of its places stays for whoever sends statements. */
const boardsKey = 'boards';
const checkTime: StatementTime = { fromMs: 0, toMs: 86_400_000, timezone: 'UTC' };

export function createBoardStatements(parts: Parts): BoardStatements {
  const limits = { ...parts.limits, bytes: Math.min(parts.limits.bytes, maxAnswerBytes) };
  const judge = async (statements: Statements, asked: AskedStatement): Promise<JudgedStatement> => {
    const { projectId, sql, time, signal } = asked;
    const judged = await statements.judge(projectId, askedOf(sql, time), signal, limits);
    if (judged.format !== format) throw formatRefused();
    return judged;
  };
  const inPlace = async <T>(
    { projectId, signal }: AskedStatement,
    work: () => Promise<T>,
  ): Promise<T> => {
    try {
      const give = await parts.turns.take({ projectId, keyId: boardsKey }, signal);
      try {
        return await work();
      } finally {
        give();
      }
    } catch (cause) {
      signal.throwIfAborted();
      throw callersError(statementFailure(cause, databaseOf(projectId), parts.log));
    }
  };
  return {
    async check(projectId, sql) {
      const { groups } = parts;
      const { signal } = new AbortController();
      const asked = { projectId, sql, time: checkTime, signal };
      if (groups === undefined) checkText(sql);
      else await inPlace(asked, () => judge(groups.ofProject(projectId), asked));
    },
    run: (asked) =>
      inPlace(asked, async () => {
        const statements = parts.groups?.ofProject(asked.projectId);
        if (statements === undefined) throw new StatementRefusal(codes.away, 'there is no store');
        const judged = await judge(statements, asked);
        return answerOf(await textOf(statements.run(judged, asked.signal)));
      }),
  };
}

function askedOf(sql: string, { fromMs, toMs, timezone }: StatementTime): StatementAsked {
  const params = new Map([
    ['from', secondsOf(fromMs)],
    ['to', secondsOf(toMs)],
    ['timezone', timezone],
  ]);
  const settings = new Map([
    ['limit', String(maxRows + 1)],
    ['max_result_bytes', String(maxAnswerBytes)],
  ]);
  const form = { queryId: 'board', gzips: false, packs: false, protocolVersion: '' };
  return { sql, settings, params, format, ...form };
}

/** As ClickHouse reads a moment whatever the statement's time zone is: seconds, with ten digits before the point. */
function secondsOf(ms: number): string {
  return (Math.max(0, ms) / 1_000).toFixed(3).padStart('0000000000.000'.length, '0');
}

function checkText(sql: string): void {
  try {
    if (readStatementText(sql, tableQuestion).format !== undefined) throw formatRefused();
  } catch (cause) {
    throw cause instanceof StatementRefusal ? callersError(cause) : cause;
  }
}

function formatRefused(): StatementRefusal {
  return notAllowed('a statement on a board has no FORMAT');
}

async function textOf(bytes: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    length += chunk.length;
    if (length > maxAnswerCharacters) {
      throw new StatementRefusal(
        codes.tooManyRows,
        'the answer is too large for a board: ask for less',
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

interface CompactAnswer {
  meta: { name: string; type: string }[];
  data: unknown[][];
}

function answerOf(text: string): StatementAnswer {
  const { meta, data }: CompactAnswer = JSON.parse(text);
  return create(StatementAnswerSchema, {
    columns: meta.map(({ name, type }) => ({ name, type })),
    rows: data.slice(0, maxRows).map((row) => ({ cells: row.map((cell) => JSON.stringify(cell)) })),
    isCut: data.length > maxRows,
  });
}

const codeOf: ReadonlyMap<number, Code> = new Map([
  [codes.limit.code, Code.ResourceExhausted],
  [codes.tooManyRows.code, Code.ResourceExhausted],
  [codes.away.code, Code.Unavailable],
]);

function callersError({ code, message }: StatementRefusal): ConnectError {
  return new ConnectError(message, codeOf.get(code) ?? Code.InvalidArgument);
}
