// Who was heard of in the last five minutes, by country: counted by the service by the time of receipt, so that it is
// right at any rate and for events of yesterday that come now.

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { useEffect, useState } from 'preact/hooks';
import { inProject } from '../client.ts';
import { activity, type LiveFeed } from '../feed/live-feed.ts';
import { AskTimes } from './ask-times.ts';
import { type Before, beginMs } from './minute.ts';

export type Figures = {
  visitors: number;
  bots: number;
  countries: { code: string; visitors: number; bots: number }[];
  /** undefined: the service does not know. */
  looksUpPlaces: boolean | undefined;
  /** What came before the stream; undefined where it was not asked for. */
  before: Before | undefined;
};

/**
 * undefined until the first answer; an answer stays while the next one is on its way or fails. The stream's totals are
 * the clock: they say that something was stored, and without them nothing of this is shown.
 */
export function useFigures(projectId: string, feed: LiveFeed | undefined): Figures | undefined {
  const [figures, setFigures] = useState<Figures>();
  useEffect(() => {
    if (!feed) return;
    const end = new AbortController();
    const times = new AskTimes(() => performance.now());
    let askedMs: number | undefined;
    const stop = feed.onTotals(({ stored = 0n }) => {
      const untilMs = beginMs(feed.minute.peek());
      const isNewStream = untilMs !== undefined && untilMs !== askedMs;
      if (!times.isDue(stored > 0n || isNewStream) || document.hidden) return;
      times.begin();
      askedMs = untilMs;
      // A failure is shown by the bar of the connection; the next round asks again.
      askFigures(projectId, untilMs, end.signal).then(
        (next) => {
          times.end(true);
          setFigures((last) => ({ ...next, before: next.before ?? last?.before }));
        },
        () => times.end(false),
      );
    });
    return () => {
      stop();
      end.abort();
    };
  }, [projectId, feed]);
  return figures;
}

async function askFigures(
  projectId: string,
  untilMs: number | undefined,
  signal: AbortSignal,
): Promise<Figures> {
  const request = untilMs === undefined ? {} : { eventsUntil: timestampFromMs(untilMs) };
  const answer = await activity.getLiveFigures(request, inProject(projectId, signal));
  return {
    visitors: Number(answer.visitors ?? 0),
    bots: Number(answer.bots ?? 0),
    countries: answer.countries.map(({ country, visitors, bots }) => ({
      ...{ code: country, visitors: Number(visitors), bots: Number(bots) },
    })),
    looksUpPlaces: answer.looksUpPlaces,
    before: untilMs === undefined ? undefined : { untilMs, events: answer.events.map(Number) },
  };
}
