// The chain as a picture: a bar as long as the CPU that an event takes, with a part for each stage in path order. Each
// process has a hue; a legend below has the parts that are too narrow for a label.

import type { Table } from './bench.ts';
import { escapeHtml } from './html.ts';

export const stageColumns = ['stage', 'process', 'us/event'];

type Process = 'service' | 'broker' | 'engine' | 'load generator';

/** From the first stage of a process to its last. */
const shades: Record<Process, readonly string[]> = {
  service: ['#173f70', '#1f5596', '#2b6cb8', '#3b7fcb', '#4f8fd4', '#6a9fd9'],
  broker: ['#b45309'],
  engine: ['#1f6f4a', '#43946c', '#6bb08d'],
  'load generator': ['#777777'],
};
/** A part with a smaller share of the bar has no room for a number. */
const minLabelledShare = 0.04;

interface Part {
  stage: string;
  process: string;
  us: number;
  colour: string;
}

/**
 * One bar for each table, all on one scale. The tables have the columns of `stageColumns`, the stages in order; a row
 * without a process is a sum and is left out.
 */
export function drawChains(tables: readonly Table[]): string {
  const chains = tables.map((table) => ({ title: table.title, parts: partsOf(table) }));
  const longest = Math.max(...chains.map(({ parts }) => totalUs(parts)));
  return chains.map(({ title, parts }) => drawChain(title, parts, longest)).join('\n');
}

function drawChain(title: string, parts: readonly Part[], longestUs: number): string {
  const total = totalUs(parts);
  const bars = parts.map(({ stage, us, colour }) => {
    const label = us / longestUs < minLabelledShare ? '' : us.toFixed(2);
    return `<div style="flex:${us};background:${colour}" title="${escapeHtml(stage)}: ${us.toFixed(2)} us">${label}</div>`;
  });
  const legend = parts.map(({ stage, process, us, colour }) => {
    const name = stage === process ? stage : `${stage} (${process})`;
    const share = Math.round((100 * us) / total);
    return `<li><i style="background:${colour}"></i>${escapeHtml(name)} ${us.toFixed(2)} us, ${share} %</li>`;
  });
  return `<p class="facts">${escapeHtml(title)}; together ${total.toFixed(2)} us</p>
<div class="chain" role="img" aria-label="CPU microseconds an event" style="width:${((100 * total) / longestUs).toFixed(1)}%">${bars.join('')}</div>
<ul class="legend">${legend.join('\n')}</ul>`;
}

function partsOf({ rows }: Table): Part[] {
  const used = new Map<string, number>();
  return rows.flatMap(([stage = '', process = '', us = '']) => {
    const colours = Object.entries(shades).find(([name]) => name === process)?.[1];
    if (colours === undefined) return [];
    const index = used.get(process) ?? 0;
    used.set(process, index + 1);
    const colour = colours[Math.min(index, colours.length - 1)] ?? '';
    return [{ stage, process, us: Math.max(0, Number(us)), colour }];
  });
}

function totalUs(parts: readonly Part[]): number {
  return parts.reduce((sum, { us }) => sum + us, 0);
}
