// Values in large letters, one for each name, with the change from the range before.

import { figure } from '../../../platform/words/figures.ts';
import { absentName } from '../../../platform/words/insight-words.ts';
import { readablePath } from '../../../platform/words/readable-path.ts';
import { Change } from '../change.tsx';

export type Named = { name: string; value: number; before?: number | undefined };

/** A value that stands alone needs no name beside its title. */
export function Numbers(props: {
  values: readonly Named[];
  format: (value: number) => string;
  /** Whether more is good news; left out where nobody can tell. */
  isMoreBetter?: boolean | undefined;
}) {
  const { values, format, isMoreBetter } = props;
  if (values.length === 0) return <p class="hint">Nothing in this range.</p>;
  return (
    <div class="big-figures">
      {values.map(({ name, value, before }) => (
        <div key={name}>
          {values.length > 1 ? <p class="clip">{readablePath(name) || absentName}</p> : null}
          <BigFigure {...{ value, before, format, isMoreBetter }} />
        </div>
      ))}
    </div>
  );
}

function BigFigure(props: {
  value: number;
  before: number | undefined;
  format: (value: number) => string;
  isMoreBetter: boolean | undefined;
}) {
  const { value, before, format, isMoreBetter } = props;
  return (
    <p class="big-figure">
      <b title={figure(value)}>{format(value)}</b>
      {before === undefined ? null : <Change {...{ value, before, format, isMoreBetter }} />}
    </p>
  );
}
