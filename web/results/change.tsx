// The change of a figure against the one before it: the same words on the overview, boards, shared boards and goals.

import { change, isGoodNews } from '../../platform/words/figures.ts';

export function Change(props: {
  value: number;
  /** Of the period before. */
  before: number;
  format: (value: number) => string;
  /** Whether more is good news; left out where nobody can tell. */
  isMoreBetter?: boolean | undefined;
}) {
  const { value, before, format, isMoreBetter } = props;
  const text = change(value, before);
  if (text === undefined) return <small class="figure-change">nothing before</small>;
  const isBetter = isGoodNews(value, before, isMoreBetter);
  return (
    <small class="figure-change">
      <span class={isBetter === undefined ? '' : isBetter ? 'good-text' : 'bad-text'}>{text}</span>{' '}
      from {format(before)}
    </small>
  );
}
