// What the question counts alone, in sight beside its days: its conditions and its segments. Its fields change them.

import type { InsightQuerySpec } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { nameOfSegment, useSegments } from '../filter/known-segments.ts';
import { filtersInWords } from './filters-in-words.ts';

/** Nothing where all are counted. */
export function ChosenChips({ projectId, spec }: { projectId: string; spec: InsightQuerySpec }) {
  const { segments, notInSegments } = spec;
  const hasSegments = segments.length + notInSegments.length > 0;
  const known = useSegments(hasSegments ? projectId : undefined);
  const texts = [
    ...filtersInWords(spec),
    ...segments.map((id) => `in ${nameOfSegment(known, id)}`),
    ...notInSegments.map((id) => `not in ${nameOfSegment(known, id)}`),
  ];
  if (texts.length === 0) return null;
  return (
    <ul class="filters" aria-label="Filters">
      {texts.map((text, place) => (
        <li class="chip" key={`${place}`}>
          <span class="clip" title={text}>
            {text}
          </span>
        </li>
      ))}
    </ul>
  );
}
