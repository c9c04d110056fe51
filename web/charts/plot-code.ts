// The code that draws charts. Nothing needs it before there are figures: it is loaded while the page asks for them. The
// place of a chart is kept free meanwhile.

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { loadCode } from '../shell/load-code.ts';
import type { Plot } from './plot/plot.tsx';

/** undefined until it is loaded. */
export const plotCode = signal<{ Plot: typeof Plot } | undefined>(undefined);
/** Why it could not be loaded, in words for the reader. */
export const plotFault = signal<unknown>(undefined);

let isOnItsWay = false;

/** Loads it once, whoever asks; again where that failed. */
export async function loadPlot(): Promise<void> {
  if (isOnItsWay || plotCode.peek() !== undefined) return;
  isOnItsWay = true;
  plotFault.value = undefined;
  try {
    plotCode.value = await loadCode(() => import('./plot/plot.tsx'), new AbortController().signal);
  } catch (cause) {
    plotFault.value = cause;
  } finally {
    isOnItsWay = false;
  }
}

/** Loads it while the page asks for its figures: of pages with charts. */
export function usePlot(): void {
  useEffect(() => void loadPlot(), []);
}
