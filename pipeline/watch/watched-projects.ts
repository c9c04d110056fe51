// The projects that somebody watches now, as query's processes say again and again (watching.<project>): only of these
// does the pipeline tell what became of events.

import type { NatsConnection } from '../../platform/broker/nats.ts';
import type { Clock } from '../../platform/clock.ts';
import { hearLive } from '../../platform/live/live-messages.ts';
import { allWatching, projectOfSubject } from '../../platform/live/live-subjects.ts';
import { setBounded } from '../../platform/memory/bounded-map.ts';

/** Three times the interval at which query says it (query/watch/live-feed.ts): one lost message ends nothing. */
const keptMs = 6_000;
/** Fifty processes full of viewers. */
const maxProjects = 1_000;

export interface WatchedProjects {
  isWatched(projectId: string): boolean;
  close(): void;
}

export function hearWatchedProjects(
  connection: Pick<NatsConnection, 'subscribe'>,
  clock: Clock,
): WatchedProjects {
  const untilMs = new Map<string, number>();
  const close = hearLive(connection, allWatching, (_, subject) => {
    const projectId = projectOfSubject(subject);
    if (projectId === undefined) return;
    untilMs.delete(projectId);
    setBounded(untilMs, projectId, clock.nowMs() + keptMs, maxProjects);
  });
  return {
    isWatched(projectId) {
      const until = untilMs.get(projectId);
      if (until === undefined) return false;
      if (clock.nowMs() <= until) return true;
      untilMs.delete(projectId);
      return false;
    },
    close,
  };
}
