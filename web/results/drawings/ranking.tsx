// Named values as they are to be drawn: bars, a pie, or numbers. As a table they are drawn by nobody else.

import type { ComponentChildren } from 'preact';
import { type Bar, BarList } from '../../charts/bar-list.tsx';
import type { DrawingId } from './drawings.ts';
import { type Named, Numbers } from './numbers.tsx';
import { Pie } from './pie.tsx';

/** A value below zero is no part of a whole. */
function hasShares(props: { hasShares?: boolean; values: readonly Named[] }): boolean {
  return props.hasShares === true && props.values.every(({ value }) => value >= 0);
}

export function Ranking(props: {
  drawn: DrawingId | undefined;
  label: string;
  values: readonly (Named & { isRest: boolean; mark?: ComponentChildren })[];
  /** Of the sum of all values: of parts of a whole alone. */
  hasShares?: boolean;
  format?: (value: number) => string;
  onOpen?: (bar: Bar) => void;
}) {
  const { drawn, label, values, format, onOpen } = props;
  const shared = { label, bars: values, ...(format && { format }), ...(onOpen && { onOpen }) };
  switch (drawn) {
    case 'table':
      return null;
    case 'pie':
      return <Pie {...shared} />;
    case 'number':
      return <Numbers values={values} format={format ?? String} />;
    default:
      return <BarList {...shared} {...(!hasShares(props) && { total: 0 })} />;
  }
}
