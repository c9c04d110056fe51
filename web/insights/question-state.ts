// The question of the page. What is typed is a draft for a moment, then an address of its own: back takes it back.

import { useLayoutEffect, useState } from 'preact/hooks';
import type {
  Granularity,
  InsightQuerySpec,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { botsOf, groupWithoutBots } from '../filter/bots.tsx';
import { hasCookieless } from '../filter/cookieless.tsx';
import { useSeenVisitors } from '../filter/seen-visitors.ts';
import { granularityOf, readSpec, writeSpec } from '../question/ask.ts';
import type { QuestionForm } from '../question/forms.ts';
import { missing } from '../question/missing.ts';
import { address, setQuery } from '../router.ts';
import { type Range, useRange } from '../time/range.tsx';

/** As long as somebody pauses between two letters. */
const typingMs = 450;

export type QuestionState = {
  /** With what was just typed. */
  draft: InsightQuerySpec;
  change: (next: InsightQuerySpec) => void;
  /** What is asked: that of the address. */
  spec: InsightQuerySpec;
  /** What is still to be chosen. */
  missing: string | undefined;
  range: Range;
  granularity: Granularity;
  asOf: Date | undefined;
  /** Of the project; undefined while it is not known. */
  hasCookieless: boolean | undefined;
  /** False while it is not known who visits the project, on which a question's first form depends: nothing is asked. */
  isReady: boolean;
};

export function useQuestion(projectId: string, form: QuestionForm): QuestionState {
  const { query } = address.value;
  const range = useRange();
  const text = query.get('q') ?? '';
  const [typed, setTyped] = useState<{ over: string; spec: InsightQuerySpec }>();
  const seen = useSeenVisitors(projectId);
  const bots = botsOf(seen);
  const cookieless = hasCookieless(seen);
  const read = readSpec(text, form);
  // A question that nobody changed leaves bots out, by a filter that can be seen and taken away, and counts cookieless
  // visitors where there are any.
  const first = {
    ...read,
    filterGroups: bots === 'left out' ? [groupWithoutBots()] : read.filterGroups,
    includeCookieless: cookieless ?? false,
  };
  const spec = text === '' ? first : read;
  // A draft belongs to the address that it was typed over, and to one stay there: "back" drops it.
  const draft = typed?.over === text ? typed.spec : spec;
  // As the page is drawn: an effect comes a moment after, in which the timer of what was typed before may come, and
  // what was typed since would be over an address of before.
  useLayoutEffect(() => setTyped((now) => (now?.over === text ? now : undefined)), [text]);
  useLayoutEffect(() => {
    if (typed?.over !== text) return;
    const timer = window.setTimeout(() => {
      const next = writeSpec(typed.spec);
      if (next !== text && missing(typed.spec) === undefined) setQuery({ q: next });
    }, typingMs);
    return () => window.clearTimeout(timer);
  }, [typed, text]);
  const asOf = new Date(query.get('asof') ?? '');
  return {
    draft,
    change: (next) => setTyped({ over: text, spec: next }),
    spec,
    missing: missing(draft),
    range,
    granularity: granularityOf(query.get('by') ?? '', range),
    asOf: Number.isNaN(asOf.getTime()) ? undefined : asOf,
    hasCookieless: cookieless,
    isReady: text !== '' || bots !== undefined,
  };
}
