// What a receiver of webhooks and the log of attempts have of events that somebody is to be told of.

import { rows } from '../../clients/client.ts';
import type { Receiver } from '../../webhooks/receiver.ts';
import type { Stack } from '../stack.ts';

export interface ToldEvents {
  /** Events that no POST told of. */
  untold: string[];
  /** Events that were told of under more than one delivery id: a receiver cannot know these for repetitions. */
  renamed: string[];
  /** POSTs beyond the first of each delivery whose attempts are not in the log: they had its id. */
  repeated: number;
  /** What made attempts fail that the log has, which retries followed: a name for each. */
  failures: string[];
  /** Deliveries that arrived, without a successful attempt in the log. */
  unlogged: string[];
  /** Deliveries with more attempts in the log than arrived. */
  overlogged: string[];
}

interface LoggedDelivery {
  id: string;
  attempts: number;
  failures: string[];
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
  const query = `SELECT delivery_id AS id, uniqExactIf(attempt_id, status = 'SUCCEEDED') AS attempts,
    groupUniqArrayIf(concat(attempt_id, ' ', error), status != 'SUCCEEDED') AS failures
    FROM webhook_attempts GROUP BY id`;
  const logged = await rows<LoggedDelivery>(clickhouseUrl, query);
  const byId = new Map(logged.map((delivery) => [delivery.id, delivery]));
  const ids = [...posts.keys()];
  const beyond = ids.map((id) => {
    const { attempts = 0, failures = [] } = byId.get(id) ?? {};
    return (posts.get(id) ?? 0) - Math.max(1, attempts + failures.length);
  });
  return {
    untold: [...told].filter((eventId) => !deliveries.has(eventId)),
    renamed: [...deliveries].flatMap(([eventId, { size }]) => (size > 1 ? [eventId] : [])),
    repeated: beyond.reduce((sum, count) => sum + Math.max(0, count), 0),
    failures: logged.flatMap(({ failures }) =>
      failures.map((failure) => failure.split(' ')[1] ?? ''),
    ),
    unlogged: ids.filter((id) => !byId.get(id)?.attempts),
    overlogged: logged.flatMap(({ id, attempts }) => (attempts > (posts.get(id) ?? 0) ? [id] : [])),
  };
}
