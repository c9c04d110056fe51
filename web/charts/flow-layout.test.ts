import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { UserFlowResultSchema } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { layFlow } from './flow-layout.ts';

const result = create(UserFlowResultSchema, {
  nodes: [
    { id: '0:a' },
    { id: '1:b' },
    { id: '1:c:d' },
    { id: '1!others', isOthers: true },
    { id: '2:a' },
  ],
  links: [
    { source: '0:a', target: '1:b', value: 10n },
    { source: '0:a', target: '1:c:d', value: 30n },
    { source: '0:a', target: '1!others', value: 60n },
    { source: '1:b', target: '2:a', value: 5n },
  ],
});

it('puts the greatest first and all others last, and no node over another', () => {
  const { nodes, bands } = layFlow(result, 300);
  const second = nodes.filter(({ step }) => step === 1);
  expect(second.map(({ name }) => name)).toEqual(['c:d', 'b', 'All others']);
  for (const [index, node] of second.entries()) {
    const next = second[index + 1];
    if (next) expect(next.y).toBeGreaterThan(node.y + node.height);
  }
  expect(nodes.find(({ id }) => id === '0:a')?.value).toBe(100);
  expect(bands).toHaveLength(4);
});

it('fits each step into the height', () => {
  const { nodes, height } = layFlow(result, 300);
  expect(height).toBeLessThanOrEqual(300 + 1e-6);
  expect(Math.max(...nodes.map(({ y, height: own }) => y + own))).toBeCloseTo(height);
});

it('leaves out a node none of whose ways is in the answer', () => {
  const { links, nodes } = result;
  const drawn = layFlow(
    create(UserFlowResultSchema, { nodes: [...nodes, { id: '0:rare' }], links }),
    300,
  );
  expect(drawn.nodes.map(({ id }) => id)).not.toContain('0:rare');
  expect(drawn.nodes).toHaveLength(nodes.length);
});

it('draws nothing of nothing', () => {
  expect(layFlow(create(UserFlowResultSchema), 300).nodes).toEqual([]);
});
