// The choice of how an answer is drawn.

import type { InsightQuerySpec } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { Select } from '../../fields/field.tsx';
import { drawingName, drawingOf, drawingsOf } from './drawings.ts';

/** Nothing where the question has no form. `onValue` gets undefined for that which is usual. */
export function DrawingField(props: {
  spec: InsightQuerySpec;
  chosen: string | undefined;
  isLabelHidden?: boolean;
  onValue: (id: string | undefined) => void;
}) {
  const { spec, chosen, isLabelHidden = false, onValue } = props;
  const all = drawingsOf(spec);
  const shown = drawingOf(spec, chosen);
  if (!shown) return null;
  return (
    <Select
      label="Drawn as"
      isLabelHidden={isLabelHidden}
      value={shown}
      options={all.map((id) => ({ value: id, name: drawingName(spec, id) }))}
      onValue={(id) => onValue(id === all[0] ? undefined : id)}
    />
  );
}
