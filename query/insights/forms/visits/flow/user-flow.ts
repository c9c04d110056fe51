// USER_FLOW: the ways of visits from step to step. The engine answers how many visits went from each node to each next
// one; which links stay is decided here. flow-moves.ts has the statement.

import { create } from '@bufbuild/protobuf';
import {
  invalidArgument,
  notKnown,
} from '../../../../../platform/http/answers/invalid-argument.ts';
import type { EventFilter } from '../../../../../proto/gen/common/v1/filter_pb.js';
import {
  LeftOut_Reason,
  type UserFlowQuery,
  UserFlowQuery_GroupBy,
  UserFlowQuery_NodeKind,
  type UserFlowResult,
  UserFlowResultSchema,
} from '../../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { type EventCondition, eventCondition } from '../../../read/event-condition.ts';
import { type Question, readBreakdown, readLimit } from '../../../read/question.ts';
import { groupText } from '../../../sql/property-text.ts';
import { leftOutOf, leftOutSql, maxReasons } from '../../left-out.ts';
import type { Plan } from '../../plan.ts';
import {
  end,
  type FlowRead,
  flowSql,
  isCountedFromEnd,
  others,
  stepCondition,
} from './flow-moves.ts';

const usual = { hops: 5, nodes: 20, links: 100 };
const most = { hops: 10, nodes: 50, links: 500 };

/** The parts of the statement. */
const flowPart = 0;
const leftOutPart = -1;

/** Throws invalid_argument. */
export function planUserFlow(question: Question): Plan {
  const { userFlow, flow: ends } = question.spec;
  if (userFlow === undefined) throw invalidArgument('spec.userFlow', 'is required');
  if (ends !== undefined && ends.from === undefined && ends.to === undefined) {
    throw invalidArgument('spec.flow', 'must have from or to');
  }
  const path = 'spec.userFlow';
  const endOf = (event: EventFilter | undefined, field: string): EventCondition | undefined =>
    event && eventCondition(event, `spec.flow.${field}`, question);
  const flow: FlowRead = {
    condition: eventCondition(userFlow.scope, `${path}.scope`, question),
    property: readProperty(userFlow),
    from: endOf(ends?.from, 'from'),
    to: endOf(ends?.to, 'to'),
    isOfUsers: isOfUsers(userFlow),
    maxHops: readLimit(userFlow.maxHops, usual.hops, most.hops, `${path}.maxHops`),
    maxNodes: readLimit(userFlow.maxNodes, usual.nodes, most.nodes, `${path}.maxNodes`),
  };
  const maxLinks = readLimit(userFlow.maxLinks, usual.links, most.links, `${path}.maxLinks`);
  return {
    sql: planSql(question, flow),
    maxRows: (flow.maxHops + 1) * (flow.maxNodes + 1) * (flow.maxNodes + 2) + maxReasons,
    read: (rows) => {
      const moves = readMoves(rows);
      const entry = isCountedFromEnd(flow) ? flow.maxHops : 0;
      const { value, links } = resultOf(moves, maxLinks, entry);
      const leftOut = [
        ...leftOutOf(rows, leftOutPart),
        { reason: LeftOut_Reason.NODES_IN_OTHERS, count: nodesInOthers(moves, flow.maxNodes) },
        { reason: LeftOut_Reason.LINKS_BEYOND_LIMIT, count: Math.max(links - maxLinks, 0) },
        {
          reason: LeftOut_Reason.STEPS_BEYOND_LIMIT,
          count: moves.reduce((sum, { beyond }) => sum + beyond, 0),
        },
      ];
      return { result: { case: 'userFlow', value }, leftOut };
    },
  };
}

/** The property whose values are the nodes; undefined for kinds. */
function readProperty({ nodeKind, nodeProperty }: UserFlowQuery): string | undefined {
  if (nodeKind !== UserFlowQuery_NodeKind.PROPERTY && nodeProperty !== '') {
    throw invalidArgument('spec.userFlow.nodeProperty', 'is for the kind of node PROPERTY');
  }
  switch (nodeKind) {
    case UserFlowQuery_NodeKind.UNSPECIFIED:
    case UserFlowQuery_NodeKind.EVENT_KIND:
      return undefined;
    case UserFlowQuery_NodeKind.PROPERTY:
      return readBreakdown(nodeProperty, 'spec.userFlow.nodeProperty');
    default:
      throw notKnown('spec.userFlow.nodeKind', nodeKind, 'is no kind of node');
  }
}

function isOfUsers({ groupBy }: UserFlowQuery): boolean {
  switch (groupBy) {
    case UserFlowQuery_GroupBy.UNSPECIFIED:
    case UserFlowQuery_GroupBy.SESSION:
      return false;
    case UserFlowQuery_GroupBy.USER:
      return true;
    default:
      throw notKnown('spec.userFlow.groupBy', groupBy);
  }
}

function planSql(question: Question, flow: FlowRead): string {
  const counted = [{ condition: stepCondition(flow), countsUsers: flow.isOfUsers }];
  return [
    `SELECT toInt32(${flowPart}) AS part, toInt64(step) AS step, source_text, source, target, beyond, values_seen, visits
      FROM (${flowSql(question, flow)})`,
    ...leftOutSql(question, counted).map(leftOutRowSql),
  ].join(' UNION ALL ');
}

function leftOutRowSql(sql: string): string {
  return `SELECT toInt32(${leftOutPart}) AS part, toInt64(reason) AS step, '' AS source_text, toInt64(0) AS source, toInt64(0) AS target,
    toUInt64(0) AS beyond, toUInt64(0) AS values_seen, toUInt64(left_out) AS visits FROM (${sql})`;
}

/** Visits that went from one node to another, or ended there. */
interface Move {
  step: number;
  source: string;
  /** Undefined where the visits ended. */
  target: string | undefined;
  visits: number;
  /** Steps of these visits that are not followed. */
  beyond: number;
  /** Values that the source stands for, and those that stay. */
  valuesSeen: number;
}

function readMoves(rows: readonly unknown[][]): Move[] {
  const flow = rows.filter(([part]) => Number(part) === flowPart);
  // One row of each source has its text; a target is a source of the next step.
  const texts = new Map<number, string>();
  for (const [, , text, source] of flow) {
    if (text !== '') texts.set(Number(source), groupText(text) ?? '');
  }
  const id = (step: number, node: number): string =>
    node === others ? `${step}!others` : `${step}:${texts.get(node) ?? ''}`;
  return flow.map(([, stepNumber, , source, target, beyond, valuesSeen, visits]) => {
    const step = Number(stepNumber);
    return {
      step,
      source: id(step, Number(source)),
      target: Number(target) === end ? undefined : id(step + 1, Number(target)),
      visits: Number(visits),
      beyond: Number(beyond),
      valuesSeen: Number(valuesSeen),
    };
  });
}

/** Values beyond the nodes of their step. */
function nodesInOthers(moves: readonly Move[], maxNodes: number): number {
  const seen = new Map<number, number>();
  for (const { step, valuesSeen } of moves) {
    seen.set(step, Math.max(seen.get(step) ?? 0, valuesSeen));
  }
  return [...seen.values()].reduce((sum, values) => sum + Math.max(values - maxNodes, 0), 0);
}

/** `entry`: the step that has all ways, whose nodes stay without links, too. */
function resultOf(
  moves: readonly Move[],
  maxLinks: number,
  entry: number,
): { value: UserFlowResult; links: number } {
  const links = moves
    .flatMap(({ source, target, visits }) =>
      target === undefined ? [] : [{ source, target, visits }],
    )
    .sort(
      (one, other) =>
        other.visits - one.visits ||
        byBytes(one.source, other.source) ||
        byBytes(one.target, other.target),
    );
  const kept = links.slice(0, maxLinks);
  const first = new Map<string, number>();
  for (const { step, source, visits } of moves) {
    if (step === entry) first.set(source, (first.get(source) ?? 0) + visits);
  }
  const entries = [...first]
    .sort(([one, visits], [other, more]) => more - visits || byBytes(one, other))
    .map(([node]) => node);
  const nodes = new Set([...entries, ...kept.flatMap(({ source, target }) => [source, target])]);
  const value = create(UserFlowResultSchema, {
    nodes: [...nodes].map((node) => ({ id: node, isOthers: /^\d+!/.test(node) })),
    links: kept.map(({ source, target, visits }) => ({ source, target, value: BigInt(visits) })),
  });
  return { value, links: links.length };
}

function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
