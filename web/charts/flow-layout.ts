// Places of a user flow's nodes and bands: a column for each step, nodes from the greatest down, bands as wide as they
// count.

import { othersName } from '../../platform/words/insight-words.ts';
import type { UserFlowResult } from '../../proto/gen/shared/insights/v1/insights_pb.js';

export type FlowNode = {
  id: string;
  name: string;
  step: number;
  value: number;
  x: number;
  y: number;
  height: number;
  isOthers: boolean;
};
export type FlowBand = { from: FlowNode; to: FlowNode; value: number; path: string; width: number };
export type Flow = { nodes: FlowNode[]; bands: FlowBand[]; width: number; height: number };

export const columnPx = 190;
export const nodePx = 12;
const gapPx = 10;
const minNodePx = 3;

/** `heightPx`: of the drawing; each step's nodes with the gaps between them fit into it. */
export function layFlow({ nodes, links }: UserFlowResult, heightPx: number): Flow {
  const into = new Map<string, number>();
  const out = new Map<string, number>();
  for (const { source, target, value = 0n } of links) {
    out.set(source, (out.get(source) ?? 0) + Number(value));
    into.set(target, (into.get(target) ?? 0) + Number(value));
  }
  const steps: FlowNode[][] = [];
  for (const { id, isOthers } of nodes) {
    const cut = id.indexOf(':');
    const step = Number.parseInt(id, 10);
    const name = isOthers || cut < 0 ? othersName : id.slice(cut + 1) || '(empty)';
    const value = Math.max(into.get(id) ?? 0, out.get(id) ?? 0);
    // All of its ways are among the smallest, which the answer leaves out: it would stand there as 0.
    if (value === 0) continue;
    const column = steps[step] ?? [];
    steps[step] = column;
    column.push({ id, name, step, value, x: step * columnPx, y: 0, height: 0, isOthers });
  }
  // Ways that are counted from their end may all be shorter than the steps that are asked for.
  const scale = Math.min(...Object.values(steps).map((column) => scaleOf(column, heightPx)));
  for (const column of steps) placeColumn(column ?? [], scale);
  const placed = new Map(
    steps.flatMap((column) => (column ?? []).map((node) => [node.id, node] as const)),
  );
  const height = Math.max(...[...placed.values()].map(({ y, height: own }) => y + own), 1);
  return {
    nodes: [...placed.values()],
    bands: layBands(links, placed, scale),
    width: steps.length * columnPx,
    height,
  };
}

/** Px for each visit. */
function scaleOf(column: FlowNode[], heightPx: number): number {
  const sum = column.reduce((total, { value }) => total + value, 0);
  const room = Math.max(heightPx - gapPx * (column.length - 1), heightPx / 3);
  return sum === 0 ? Number.POSITIVE_INFINITY : room / sum;
}

function placeColumn(column: FlowNode[], scale: number): void {
  column.sort((a, b) => Number(a.isOthers) - Number(b.isOthers) || b.value - a.value);
  let y = 0;
  for (const node of column) {
    node.y = y;
    node.height = Number.isFinite(scale) ? Math.max(minNodePx, node.value * scale) : minNodePx;
    y += node.height + gapPx;
  }
}

function layBands(
  links: UserFlowResult['links'],
  placed: Map<string, FlowNode>,
  scale: number,
): FlowBand[] {
  const used = new Map<string, number>();
  const known = links.flatMap(({ source, target, value = 0n }) => {
    const from = placed.get(source);
    const to = placed.get(target);
    return from && to ? [{ from, to, value: Number(value) }] : [];
  });
  // In the order of the nodes, so that the bands of a node do not cross at its edge.
  known.sort((a, b) => a.from.y - b.from.y || a.to.y - b.to.y);
  return known.map(({ from, to, value }) => {
    const width = Math.max(1, value * scale);
    const y1 = from.y + take(used, `out ${from.id}`, width) + width / 2;
    const y2 = to.y + take(used, `in ${to.id}`, width) + width / 2;
    const x1 = from.x + nodePx;
    const middle = (x1 + to.x) / 2;
    return {
      from,
      to,
      value,
      width,
      path: `M${x1},${y1}C${middle},${y1} ${middle},${y2} ${to.x},${y2}`,
    };
  });
}

function take(used: Map<string, number>, key: string, width: number): number {
  const before = used.get(key) ?? 0;
  used.set(key, before + width);
  return before;
}
