// The answer to a question, drawn as its form asks: one component for the overview, insights, boards and shared boards.

import type { ComponentType } from 'preact';
import type {
  Granularity,
  InsightQuerySpec,
  QueryResponse,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { CompleteUntil } from '../exports/shown-tables.ts';
import { learnSegments } from '../filter/segment-names.ts';
import { toDate } from '../time/time.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { drawingOf } from './drawings/drawings.ts';
import type { Opened, Rows, Shown } from './shown.ts';
import { Trends } from './trends.tsx';
import '../styles/results.css';

/** A question needs one of these drawings or trends, and the overview none of them. */
const loadFunnel = async () => (await import('./funnel/funnel.tsx')).Funnel;
const loadLifecycle = async () => (await import('./users/lifecycle.tsx')).Lifecycle;
const loadRetention = async () => (await import('./users/retention.tsx')).Retention;
const loadSegments = async () => (await import('./segments.tsx')).Segments;
const loadStickiness = async () => (await import('./users/stickiness.tsx')).Stickiness;
const loadTopList = async () => (await import('./top-list.tsx')).TopList;
const loadUserFlow = async () => (await import('./flow.tsx')).UserFlow;

interface Result {
  label: string;
  spec: InsightQuerySpec;
  answer: QueryResponse;
  previous?: QueryResponse | undefined;
  granularity: Granularity;
  height?: number;
  isTile?: boolean;
  /** The drawing that was chosen, of those that the question may have. */
  drawing?: string | undefined;
  onOpen?: ((rows: Rows) => void) | undefined;
  onPersons?: ((opened: Opened) => void) | undefined;
}

/** `isTile`: without tables of what the chart says in words. */
export function InsightResult(props: Result) {
  const { completeUntil } = props.answer;
  return (
    <CompleteUntil.Provider value={completeUntil ? toDate(completeUntil).toISOString() : 'unknown'}>
      <Drawing {...props} />
    </CompleteUntil.Provider>
  );
}

function Drawing(props: Result) {
  const { answer, previous, height = 300, isTile = false, drawing, ...rest } = props;
  const { result } = answer;
  learnSegments(answer.segments);
  // A question that compares itself has both.
  const earlier = answer.previous ?? previous;
  const before = earlier?.result;
  const shared = {
    ...{ ...rest, height, isTile, drawn: drawingOf(rest.spec, drawing) },
    ...{ labels: answer.bucketLabels, labelsBefore: earlier?.bucketLabels },
  };
  const later = { shared, key: result.case };
  switch (result.case) {
    case 'trends': {
      const trends = before?.case === 'trends' ? before.value : undefined;
      return <Trends {...shared} {...both(result.value, trends)} />;
    }
    case 'revenue': {
      const revenue = before?.case === 'revenue' ? before.value : undefined;
      return <Trends {...shared} {...both(result.value, revenue)} />;
    }
    case 'segmentation': {
      const segments = before?.case === 'segmentation' ? before.value : undefined;
      const of = both(result.value, segments);
      return <Later {...later} load={loadSegments} name="the numbers" {...of} />;
    }
    case 'topK': {
      const top = before?.case === 'topK' ? before.value : undefined;
      return <Later {...later} load={loadTopList} name="the list" {...both(result.value, top)} />;
    }
    case 'funnel': {
      const funnel = before?.case === 'funnel' ? before.value : undefined;
      return (
        <Later {...later} load={loadFunnel} name="the steps" {...both(result.value, funnel)} />
      );
    }
    case 'retention': {
      const retention = before?.case === 'retention' ? before.value : undefined;
      const of = both(result.value, retention);
      return <Later {...later} load={loadRetention} name="the table" {...of} />;
    }
    case 'userFlow':
      return <Later {...later} load={loadUserFlow} name="the paths" result={result.value} />;
    case 'lifecycle': {
      const lifecycle = before?.case === 'lifecycle' ? before.value : undefined;
      const of = both(result.value, lifecycle);
      return <Later {...later} load={loadLifecycle} name="the bars" {...of} />;
    }
    case 'stickiness': {
      const stickiness = before?.case === 'stickiness' ? before.value : undefined;
      const of = both(result.value, stickiness);
      return <Later {...later} load={loadStickiness} name="the bars" {...of} />;
    }
    case undefined:
      return <p class="hint">The service sent an empty answer.</p>;
    default:
      return result satisfies never;
  }
}

/** A drawing whose code is loaded for it. `name` is read as "Loading NAME". */
function Later<Of>(props: {
  load: () => Promise<ComponentType<Shown<Of>>>;
  name: string;
  shared: Omit<Shown<Of>, 'result' | 'previous'>;
  result: Of;
  previous?: Of | undefined;
}) {
  const { load, name, shared, result, previous } = props;
  return <Loaded load={load} name={name} with={{ ...shared, result, previous }} />;
}

/** The newest answer with the one before it. */
function both<R>(result: R, previous: R | undefined): Pick<Shown<R>, 'result' | 'previous'> {
  return { result, previous };
}
