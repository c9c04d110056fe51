// The ways of visits, drawn as bands from step to step.

import { useMemo, useState } from 'preact/hooks';
import { figure, plural } from '../../platform/words/figures.ts';
import { readablePath } from '../../platform/words/readable-path.ts';
import {
  UserFlowQuery_GroupBy as GroupBy,
  type InsightQuerySpec,
  UserFlowQuery_NodeKind as NodeKind,
  type UserFlowResult,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { DataTable } from '../charts/data-table.tsx';
import { columnPx, type Flow, type FlowNode, layFlow, nodePx } from '../charts/flow-layout.ts';
import { kindNamer } from '../text/namer.ts';
import type { Shown } from './shown.ts';

/** Steps after the first, where the question names none. */
const usualHops = 5;
/** What fits between two columns. */
const maxNameLength = 24;

export function UserFlow({ spec, result, label, height, drawn }: Shown<UserFlowResult>) {
  const flow = useMemo(() => layFlow(result, height), [result, height]);
  const isProperty = spec.userFlow?.nodeKind === NodeKind.PROPERTY;
  const kindOf = useMemo(() => kindNamer(flow.nodes.map(({ name }) => name)), [flow]);
  const named = ({ name, isOthers }: FlowNode): string =>
    isProperty || isOthers ? name : kindOf(name);
  const isOfUsers = spec.userFlow?.groupBy === GroupBy.USER;
  const way = isOfUsers ? 'user' : 'visit';
  if (flow.nodes.length === 0) return <p class="hint">No {way} took a step in this range.</p>;
  return (
    <>
      {drawn === 'table' ? null : (
        <Diagram {...{ flow, label, named, way }} stepName={stepNames(spec)} />
      )}
      <p class="hint">
        Numbers count {way}s that went from one step to the next; a {way} of one step is in none.
      </p>
      <DataTable
        label={label}
        isAlone={drawn === 'table'}
        grid={{
          columns: ['Step', 'From', 'To', isOfUsers ? 'Users' : 'Visits'],
          rows: flow.bands
            .toSorted((a, b) => a.from.step - b.from.step || b.value - a.value)
            .map(({ from, to, value }) => [from.step, named(from), named(to), value]),
        }}
      />
    </>
  );
}

function Diagram(props: {
  flow: Flow;
  label: string;
  named: (node: FlowNode) => string;
  /** What takes the steps: "visit". */
  way: string;
  stepName: (step: number) => string;
}) {
  const { flow, label, named, way, stepName } = props;
  const [at, setAt] = useState<string>();
  return (
    <div class="scroll flow" tabIndex={0} role="region" aria-label={`${label}: scrolls sideways`}>
      <svg
        width={flow.width}
        height={flow.height + 24}
        viewBox={`0 -20 ${flow.width} ${flow.height + 24}`}
        role="img"
        aria-label={`${label}. The table below has every way.`}
      >
        {Array.from({ length: flow.width / columnPx }, (_, step) => (
          <text key={`step ${step}`} x={step * columnPx} y={-8} class="flow-step">
            {stepName(step)}
          </text>
        ))}
        {flow.bands.map(({ from, to, path, width, value }) => (
          <path
            key={`${from.id} ${to.id}`}
            class="flow-band"
            d={path}
            style={{ strokeWidth: `${width}px` }}
            data-at={at === from.id || at === to.id}
          >
            <title>{readablePath(`${named(from)} to ${named(to)}: ${plural(value, way)}`)}</title>
          </path>
        ))}
        {flow.nodes.map((node) => (
          <Node key={node.id} {...{ node, way }} name={named(node)} onAt={setAt} />
        ))}
      </svg>
    </div>
  );
}

/** Ways to an event, wherever they begin, have its column last. */
function stepNames({ flow, userFlow }: InsightQuerySpec): (step: number) => string {
  const last = userFlow?.maxHops || usualHops;
  if (flow?.from || !flow?.to) return (step) => (step === 0 ? 'Start' : `Step ${step}`);
  return (step) => (step === last ? 'End' : `${last - step} before`);
}

function Node(props: {
  node: FlowNode;
  name: string;
  way: string;
  onAt: (id: string | undefined) => void;
}) {
  const { node, name, way, onAt } = props;
  return (
    <g onPointerEnter={() => onAt(node.id)} onPointerLeave={() => onAt(undefined)}>
      <rect
        class="flow-node"
        data-rest={node.isOthers}
        x={node.x}
        y={node.y}
        width={nodePx}
        height={node.height}
        rx={2}
      />
      <text
        class="flow-name"
        x={node.x + nodePx + 5}
        y={node.y + Math.max(10, node.height / 2 + 4)}
      >
        {short(readablePath(name))} <tspan class="flow-count">{figure(node.value)}</tspan>
      </text>
      <title>{readablePath(`${name}: ${plural(node.value, way)}`)}</title>
    </g>
  );
}

function short(name: string): string {
  return name.length > maxNameLength ? `${name.slice(0, maxNameLength - 1)}…` : name;
}
