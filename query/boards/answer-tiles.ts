// Answers the questions and statements of a dashboard's tiles, each failing alone.

import { create, toBinary } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  type DashboardFilters,
  type StatementAnswer,
  StatementAnswerSchema,
  type Tile,
  type TileResult,
  TileResultSchema,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import {
  Compare,
  type InsightQuerySpec,
  type QueryResponse,
  QueryResponseSchema,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { inTurn } from '../in-turn.ts';
import type { InsightCall, RunQuestion } from '../insights/query-insight.ts';
import { AskedTogether } from '../insights/run/asked-together.ts';
import type { AskedStatement } from '../statements/boards/board-statements.ts';
import { type BoardTime, isAskable, type Range } from './board-time.ts';
import { questionOf } from './question.ts';

export interface BoardQuestions {
  projectId: string;
  tiles: readonly Tile[];
  filters: DashboardFilters | undefined;
  includeCookieless: boolean;
  /** From questions that say nothing of bots themselves. */
  leavesOutBots: boolean;
  time: BoardTime;
}

export type RunStatement = (asked: AskedStatement) => Promise<StatementAnswer>;

export interface AnswerDeps {
  run: RunQuestion;
  /** Without it no statement runs, and their tiles have no result. */
  runStatement?: RunStatement | undefined;
  /** What every question of the dashboard is asked with. */
  call: Pick<InsightCall, 'deadline' | 'standIns' | 'onRead' | 'spend' | 'together'>;
  /** The caller's error for whatever the question that `signal` ends throws. */
  failureOf: (cause: unknown, signal: AbortSignal) => ConnectError;
}

/**
 * One result of each tile with a question or a statement, in the order of the tiles. Throws only where the caller has
 * gone.
 */
export async function answerTiles(deps: AnswerDeps, board: BoardQuestions): Promise<TileResult[]> {
  const { runStatement } = deps;
  const questions: { tile: Tile; spec: InsightQuerySpec }[] = [];
  const statements: { tile: Tile; sql: string }[] = [];
  for (const tile of board.tiles) {
    const { content } = tile;
    switch (content.case) {
      case 'insight':
        questions.push({ tile, spec: content.value });
        break;
      case 'statement':
        statements.push({ tile, sql: content.value.sql });
        break;
      case 'markdown':
      case undefined:
        break;
      default:
        content satisfies never;
    }
  }
  const room = { bytes: maxAnswerBytes };
  const call = { ...deps.call, together: new AskedTogether() };
  const answered = await Promise.all([
    inTurn(questions, tilesAtOnce, ({ tile, spec }) =>
      answerTile({ ...deps, call }, board, tile, spec, room),
    ),
    // One after the other, beside the questions: they have places of their own.
    ...(runStatement === undefined
      ? []
      : [
          inTurn(statements, 1, ({ tile, sql }) =>
            answerStatement({ ...deps, runStatement }, board, tile, sql, room),
          ),
        ]),
  ]);
  const byTile = new Map(answered.flat().map((result) => [result.tileId, result]));
  return board.tiles.flatMap(({ id }) => byTile.get(id) ?? []);
}

/** What the tile is compared with, if anything; a question that compares itself has both answers. */
function rangeBefore({ time }: BoardQuestions, tile: Tile, spec: InsightQuerySpec): Range[] {
  const isOfTile = tile.compareToPrevious && spec.compare === Compare.UNSPECIFIED;
  return isOfTile && isAskable(time.previous) ? [time.previous] : [];
}

/**
 * Of all answers of a dashboard together, in binary. One answer may have 100,000 points, most of them zeros that no row
 * was read for: a hundred tiles of them would be a gigabyte of this process.
 */
const maxAnswerBytes = 8 * 1_048_576;

/** As many statements as may run: more would take the places where other dashboards' wait. */
const tilesAtOnce = 3;

async function answerTile(
  deps: AnswerDeps,
  board: BoardQuestions,
  tile: Tile,
  spec: InsightQuerySpec,
  room: Room,
): Promise<TileResult> {
  const [previous] = rangeBefore(board, tile, spec);
  // Of its own, because other tiles may have the engine while this one waits.
  const signal = AbortSignal.any([deps.call.deadline.signal]);
  const call = { ...deps.call, deadline: { ...deps.call.deadline, signal } };
  const askWithin = async (asked: Range): Promise<QueryResponse> => {
    // No statement runs for an answer that has no room.
    if (room.bytes <= 0) throw noRoom();
    const answer = await ask({ ...deps, call }, board, spec, asked);
    room.bytes -= toBinary(QueryResponseSchema, answer).length;
    if (room.bytes < 0) throw noRoom();
    return answer;
  };
  try {
    const insight = await askWithin(board.time.range);
    const former = previous && (await askWithin(previous));
    return create(TileResultSchema, {
      tileId: tile.id,
      outcome: { case: 'insight', value: insight },
      ...(former !== undefined && { previous: former }),
    });
  } catch (cause) {
    return failed(tile, deps.failureOf(cause, signal));
  }
}

async function answerStatement(
  { runStatement, call, failureOf }: AnswerDeps & { runStatement: RunStatement },
  { projectId, time: { range, timezone } }: BoardQuestions,
  tile: Tile,
  sql: string,
  room: Room,
): Promise<TileResult> {
  const { signal } = call.deadline;
  const startMs = performance.now();
  try {
    if (room.bytes <= 0) throw noRoom();
    const answer = await runStatement({ projectId, sql, time: { ...range, timezone }, signal });
    const bytes = toBinary(StatementAnswerSchema, answer).length;
    call.onRead?.(bytes);
    room.bytes -= bytes;
    if (room.bytes < 0) throw noRoom();
    return create(TileResultSchema, {
      tileId: tile.id,
      outcome: { case: 'statement', value: answer },
    });
  } catch (cause) {
    return failed(tile, failureOf(cause, signal));
  } finally {
    call.spend?.(performance.now() - startMs);
  }
}

/** Throws the failure where the caller has gone. */
function failed(tile: Tile, failure: ConnectError): TileResult {
  if (failure.code === Code.Canceled) throw failure;
  const seconds = Number(failure.metadata.get('retry-after'));
  const error = {
    ...{ code: codeName(failure.code), message: failure.rawMessage },
    ...(seconds > 0 && { retryAfterSeconds: seconds }),
  };
  return create(TileResultSchema, { tileId: tile.id, outcome: { case: 'error', value: error } });
}

/** What is left for answers. */
interface Room {
  bytes: number;
}

function noRoom(): ConnectError {
  const message =
    'the answers of the dashboard are too large together: choose a shorter range, longer buckets or fewer groups';
  return new ConnectError(message, Code.ResourceExhausted);
}

function ask(
  { run, call }: AnswerDeps,
  board: BoardQuestions,
  spec: InsightQuerySpec,
  range: Range,
): Promise<QueryResponse> {
  const request = questionOf(spec, board, board.time, range);
  return run({ ...call, projectId: board.projectId, request });
}

/** As Connect writes it: "invalid_argument". */
function codeName(code: Code): string {
  return Code[code].replace(/(?<!^)[A-Z]/g, '_$&').toLowerCase();
}
