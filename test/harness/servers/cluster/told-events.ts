// What a receiver of webhooks and the log of attempts have of events that somebody is to be told of.

import { rows } from '../../clients/client.ts';
import type { Receiver } from '../../webhooks/receiver.ts';
import type { Stack } from '../stack.ts';

export interface ToldEvents {
  /** Events that no POST told of. */
  untold: string[];
  /** Events that were told of under more than one delivery id: a receiver cannot know these for repetitions. */
  renamed: string[];
  /** POSTs beyond the first of each delivery, which had its id. */
  repeated: number;
  /** Deliveries that arrived, without a successful attempt in the log. */
  unlogged: string[];
  /** Deliveries with more attempts in the log than arrived. */
  overlogged: string[];
}

/** `told` are event ids. */
export async function toldEvents(
  { clickhouseUrl }: Stack,
  { received }: Pick<Receiver, 'received'>,
  told: ReadonlySet<string>,
): Promise<ToldEvents> {
  const posts = new Map<string, number>();
  const deliveries = new Map<string, Set<string>>();
  for (const { headers, body } of received) {
    const { data } = JSON.parse(body);
    const id = String(headers['x-service-delivery']);
    posts.set(id, (posts.get(id) ?? 0) + 1);
    deliveries.set(data.eventId, (deliveries.get(data.eventId) ?? new Set()).add(id));
  }
  const query = `SELECT delivery_id AS id, uniqExact(attempt_id) AS attempts FROM webhook_attempts
    WHERE status = 'SUCCEEDED' GROUP BY id`;
  const logged = await rows<{ id: string; attempts: number }>(clickhouseUrl, query);
  const attempts = new Map(logged.map(({ id, attempts: count }) => [id, count]));
  const ids = [...posts.keys()];
  return {
    untold: [...told].filter((eventId) => !deliveries.has(eventId)),
    renamed: [...deliveries].flatMap(([eventId, { size }]) => (size > 1 ? [eventId] : [])),
    repeated: received.length - ids.length,
    unlogged: ids.filter((id) => !attempts.has(id)),
    overlogged: logged.flatMap(({ id, attempts: count }) =>
      count > (posts.get(id) ?? 0) ? [id] : [],
    ),
  };
}
