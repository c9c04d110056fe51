// uPlot, which draws lines. It is a fifth of the code of a page with a chart, and nothing needs it before there are
// figures: it is loaded while the page asks for them. The place of a chart is kept free meanwhile.

import { signal } from '@preact/signals';
import type uPlot from 'uplot';
import { loadCode } from '../shell/load-code.ts';

/** undefined until it is loaded. */
export const plotCode = signal<typeof uPlot | undefined>(undefined);
/** Why it could not be loaded, in words for the reader. */
export const plotFault = signal<unknown>(undefined);

let isOnItsWay = false;

/** Loads it once, whoever asks; again where that failed. */
export async function loadPlot(): Promise<void> {
  if (isOnItsWay || plotCode.peek() !== undefined) return;
  isOnItsWay = true;
  plotFault.value = undefined;
  try {
    const { default: Plot } = await loadCode(() => import('uplot'), new AbortController().signal);
    plotCode.value = Plot;
  } catch (cause) {
    plotFault.value = cause;
  } finally {
    isOnItsWay = false;
  }
}
