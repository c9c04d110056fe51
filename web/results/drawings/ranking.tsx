// Named values as they are to be drawn: bars, a pie, or numbers. As a table they are drawn by nobody else.

import { type Bar, BarList } from '../../charts/bar-list.tsx';
import type { DrawingId } from './drawings.ts';
import { type Named, Numbers } from './numbers.tsx';
import { Pie } from './pie.tsx';

export function Ranking(props: {
  drawn: DrawingId | undefined;
  label: string;
  values: readonly (Named & { isRest: boolean })[];
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
      return <BarList {...shared} />;
  }
}
