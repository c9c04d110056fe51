// Rows of the table dead_letters: the part of a dead letter that its project may read, without its content. The
// letters themselves are in their stream (dead-letter.ts), and this table can be lost without losing one.

import type { ClickHouseClient } from '@clickhouse/client';
import { failureOf } from '../../platform/clickhouse/clickhouse.ts';
import { isObject } from '../../platform/json.ts';
import { maxKindCharacters } from '../../platform/limits.ts';
import type { Log } from '../../platform/log.ts';
import type { DeadLetter } from '../build/thread-messages.ts';
import { formatUuid, parseUuid } from '../build/uuid.ts';

interface DeadLetterRowsOptions {
  clickhouse: Pick<ClickHouseClient, 'insert'>;
  shard: number;
  log: Log;
  /** Runs one call until it succeeds, or rejects with the reason of an abort; see platform/retry.ts. */
  retry: <T>(call: () => Promise<T>) => Promise<T>;
}

/** A larger event's kind and id are not looked for. */
const maxParsedBytes = 65_536;

/**
 * Returns a function that resolves once the letters of known projects have their rows. Rows that come again replace
 * themselves. Rows that the engine refuses are left out, because the letters are kept and events wait behind them.
 */
export function createDeadLetterRows({
  clickhouse,
  shard,
  log,
  retry,
}: DeadLetterRowsOptions): (letters: readonly DeadLetter[]) => Promise<void> {
  return async (letters) => {
    const values = letters.flatMap((letter) => rowOf(letter, shard) ?? []);
    if (values.length === 0) return;
    await retry(async () => {
      try {
        await clickhouse.insert({
          table: 'dead_letters',
          values,
          format: 'JSONEachRow',
          ...settings,
        });
      } catch (error) {
        if (failureOf(error) !== 'reject') throw error;
        log.error({ shard, rows: values.length, err: error }, 'dead letters get no rows');
      }
    });
  };
}

const settings = { clickhouse_settings: { async_insert: 0 } } as const;

/** Undefined without a project: nobody could read it. */
function rowOf(letter: DeadLetter, shard: number): object | undefined {
  const { projectId, receiveTimeMs, streamSeq, request = -1, event = -1, reason, events } = letter;
  if (projectId === undefined || receiveTimeMs === undefined) return undefined;
  const { kind, eventId } = describeLetter(letter);
  return {
    project_id: projectId,
    // The same each time the batch is built: the row's place in the table.
    time: receiveTimeMs,
    ...{ shard, stream_seq: streamSeq, request, event },
    ...{ reason, kind, event_id: eventId, events },
  };
}

/** Kind and id of a letter that is one event, where they keep their own rules; else empty. */
export function describeLetter({ event, content }: DeadLetter): { kind: string; eventId: string } {
  const fields = event === undefined || content.length > maxParsedBytes ? {} : parse(content);
  const kind = fields['kind'];
  const eventId = fields['eventId'] ?? fields['event_id'];
  const isKind =
    typeof kind === 'string' && kind.length <= maxKindCharacters && /^[\w.-]+$/.test(kind);
  return { kind: isKind ? kind : '', eventId: typeof eventId === 'string' ? idOf(eventId) : '' };
}

function idOf(text: string): string {
  const words = new Uint32Array(4);
  return parseUuid(text, words) ? formatUuid(new Uint8Array(words.buffer)) : '';
}

function parse(content: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const event: unknown = JSON.parse(Buffer.from(content).toString());
    return isObject(event) ? event : {};
  } catch {
    return {};
  }
}
