// The answer to a question, drawn as its form asks: one component for the overview, insights, boards and shared boards.

import type {
  Granularity,
  InsightQuerySpec,
  QueryResponse,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { Loaded } from '../ui/loaded.tsx';
import { Segments } from './segments.tsx';
import type { Rows, Shown } from './shown.ts';
import { TopList } from './top-list.tsx';
import { Trends } from './trends.tsx';
import '../styles/results.css';

/** A question needs one of these drawings, and the overview none. */
const loadFunnel = async () => (await import('./funnel.tsx')).Funnel;
const loadLifecycle = async () => (await import('./lifecycle.tsx')).Lifecycle;
const loadRetention = async () => (await import('./retention.tsx')).Retention;
const loadStickiness = async () => (await import('./stickiness.tsx')).Stickiness;
const loadUserFlow = async () => (await import('./flow.tsx')).UserFlow;

/** `isTile`: without tables of what the chart says in words. */
export function InsightResult(props: {
  label: string;
  spec: InsightQuerySpec;
  answer: QueryResponse;
  previous?: QueryResponse | undefined;
  granularity: Granularity;
  height?: number;
  isTile?: boolean;
  onOpen?: ((rows: Rows) => void) | undefined;
}) {
  const { answer, previous, height = 300, isTile = false, ...rest } = props;
  const { result } = answer;
  const before = previous?.result;
  const shared = { ...rest, height, isTile, labels: answer.bucketLabels };
  switch (result.case) {
    case 'trends':
      return (
        <Trends
          {...shared}
          {...both(result.value, before?.case === 'trends' ? before.value : undefined)}
        />
      );
    case 'segmentation':
      return (
        <Segments
          {...shared}
          {...both(result.value, before?.case === 'segmentation' ? before.value : undefined)}
        />
      );
    case 'funnel':
      return (
        <Loaded
          key={result.case}
          load={loadFunnel}
          name="the steps"
          with={{
            ...shared,
            ...both(result.value, before?.case === 'funnel' ? before.value : undefined),
          }}
        />
      );
    case 'retention':
      return (
        <Loaded
          key={result.case}
          load={loadRetention}
          name="the table"
          with={{ ...shared, result: result.value }}
        />
      );
    case 'userFlow':
      return (
        <Loaded
          key={result.case}
          load={loadUserFlow}
          name="the ways"
          with={{ ...shared, result: result.value }}
        />
      );
    case 'topK':
      return (
        <TopList
          {...shared}
          {...both(result.value, before?.case === 'topK' ? before.value : undefined)}
        />
      );
    case 'lifecycle':
      return (
        <Loaded
          key={result.case}
          load={loadLifecycle}
          name="the bars"
          with={{ ...shared, result: result.value }}
        />
      );
    case 'stickiness':
      return (
        <Loaded
          key={result.case}
          load={loadStickiness}
          name="the bars"
          with={{ ...shared, result: result.value }}
        />
      );
    case undefined:
      return <p class="hint">The service sent an empty answer.</p>;
    default:
      return result satisfies never;
  }
}

/** The newest answer with the one before it. */
function both<R>(result: R, previous: R | undefined): Pick<Shown<R>, 'result' | 'previous'> {
  return { result, previous };
}
