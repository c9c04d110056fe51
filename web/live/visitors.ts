// Who was here in the last five minutes, by country: counted by the service over the stored events, so that it is right
// at any rate, and asked for again every ten seconds while somebody looks.

import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { useEffect, useState } from 'preact/hooks';
import {
  AggregationType,
  InsightsService,
  InsightType,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { inProject, transport } from '../client.ts';
import { groupWithoutBots } from '../filter/bots.tsx';

const insights = createClient(InsightsService, transport);

const windowMs = 5 * 60_000;
const everyMs = 10_000;
const property = '$country';

export type Visitors = { total: number; countries: { code: string; visitors: number }[] };

/** undefined until the first answer; an answer stays while the next one is on its way or fails. */
export function useVisitors(projectId: string, withBots: boolean): Visitors | undefined {
  const [visitors, setVisitors] = useState<Visitors>();
  useEffect(() => {
    const end = new AbortController();
    const ask = (): void => {
      if (document.visibilityState === 'hidden') return;
      // A failure is shown by the bar of the connection; the next round asks again.
      askVisitors(projectId, withBots, end.signal).then(setVisitors, () => {});
    };
    ask();
    const timer = window.setInterval(ask, everyMs);
    document.addEventListener('visibilitychange', ask, { signal: end.signal });
    return () => {
      window.clearInterval(timer);
      end.abort();
    };
  }, [projectId, withBots]);
  return visitors;
}

async function askVisitors(
  projectId: string,
  withBots: boolean,
  signal: AbortSignal,
): Promise<Visitors> {
  const now = Date.now();
  const { result } = await insights.query(
    {
      spec: {
        insightType: InsightType.SEGMENTATION,
        events: [{ event: {}, aggregation: AggregationType.UNIQUE_USERS }],
        breakdowns: [{ property }],
        breakdownLimit: 100,
        includeCookieless: true,
        filterGroups: withBots ? [] : [groupWithoutBots()],
      },
      timeRange: {
        from: timestampFromDate(new Date(now - windowMs)),
        // A sender's clock may be ahead a little.
        to: timestampFromDate(new Date(now + windowMs)),
      },
    },
    inProject(projectId, signal),
  );
  const groups = result.case === 'segmentation' ? result.value.series : [];
  return {
    total: groups.reduce((sum, { value }) => sum + (value ?? 0), 0),
    countries: groups.map(({ breakdown, value }) => ({
      code: breakdown[property] ?? '',
      visitors: value ?? 0,
    })),
  };
}
