// A range of the page that is chosen in a chart: the days of its buckets go into the address.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { daysBetween } from '../charts/plot/zoom.ts';
import { setQuery } from '../router.ts';
import { currentZone } from './time.tsx';
import { dayText } from './zone.ts';

/** Whether the page takes its range from the address. */
export const HasRangeInAddress = createContext(true);

/** Sets the range to the days of the buckets between two places; undefined where the page has no range to set. */
export function useZoom(
  labels: readonly string[],
): ((from: number, to: number) => void) | undefined {
  if (!useContext(HasRangeInAddress)) return undefined;
  return (from, to) => {
    const days = daysBetween(labels, from, to, dayText(new Date(), currentZone()));
    if (days) setQuery({ ...days, range: undefined });
  };
}
