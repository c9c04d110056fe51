// User flow: the ways of visits from step to step.

import type { EventFilter } from '../questions/event-filter.ts';
import type { Question } from '../questions/question.ts';
import type { Part } from './part.ts';
import { breakdownText, matches } from './statement/conditions.ts';
import { isInRange, presentEvents } from './statement/selection.ts';
import type { Row, Tables } from './tables.ts';

/** Ways to an event, wherever they begin: the last step of each has the number of hops. */
function isFromEnd({ flow }: Question): boolean {
  return flow?.from === undefined && flow?.to !== undefined;
}

/** The common tables up to `nodes`: each visit's steps with the id of their node. */
function flowTables(question: Question): string {
  const flow = question.userFlow ?? {};
  const { from, to } = question.flow ?? {};
  const value =
    flow.nodeKind === 'PROPERTY' ? breakdownText(question, flow.nodeProperty ?? '') : 'kind';
  const hops = flow.maxHops || 5;
  const kept = flow.maxNodes || 20;
  const isEnd = (event: EventFilter | undefined): string =>
    event === undefined ? 'false' : `coalesce(${matches(question, event)}, false)`;
  const way = flow.groupBy === 'USER' ? 'usr' : 'session';
  return `${presentEvents(question)},
    all_steps AS (SELECT ${way} AS session, ts, ${value} AS value, ${isEnd(from)} AS is_from, ${isEnd(to)} AS is_to FROM ev
      WHERE ${isInRange(question)} AND (${matches(question, flow.scope)} OR ${isEnd(from)} OR ${isEnd(to)})
        AND ${value} IS NOT NULL AND ${way} IS NOT NULL),
    begun AS (SELECT session, ${from ? 'min((ts, value)) FILTER (WHERE is_from)' : "(-1::BIGINT, '')"} AS start
      FROM all_steps GROUP BY session),
    ended AS (SELECT b.session, b.start,
        ${to ? 'min((ts, value)) FILTER (WHERE is_to AND (ts, value) > b.start)' : "(9000000000000000::BIGINT, '')"} AS stop
      FROM begun b JOIN all_steps a ON a.session = b.session WHERE b.start IS NOT NULL GROUP BY b.session, b.start),
    events_of AS (SELECT a.session, ts, value FROM all_steps a JOIN ended e ON e.session = a.session
      WHERE e.stop IS NOT NULL AND (ts, value) >= e.start AND (ts, value) <= e.stop),
    changes AS (SELECT *, lag(value) OVER (PARTITION BY session ORDER BY ts, value) AS before FROM events_of),
    placed AS (SELECT session, value, row_number() OVER (PARTITION BY session ORDER BY ts, value) - 1 AS place,
        count(*) OVER (PARTITION BY session) AS places
      FROM changes WHERE before IS NULL OR before <> value),
    steps AS (SELECT session, value, ${isFromEnd(question) ? `${hops} + 1 + place - places` : 'place'} AS step FROM placed),
    followed AS (SELECT * FROM steps WHERE step BETWEEN 0 AND ${hops}),
    counted AS (SELECT step, value, count(*) AS visits FROM followed GROUP BY step, value),
    ranked AS (SELECT *, row_number() OVER (PARTITION BY step ORDER BY visits DESC, value) AS place FROM counted),
    nodes AS (SELECT session, f.step, place > ${kept} AS is_others,
      f.step::VARCHAR || CASE WHEN place > ${kept} THEN '!others' ELSE ':' || f.value END AS node
      FROM followed f JOIN ranked r ON r.step = f.step AND r.value = f.value),
    links AS (SELECT a.node AS source, b.node AS target, count(*) AS value,
        bool_or(a.is_others) AS source_others, bool_or(b.is_others) AS target_others
      FROM nodes a JOIN nodes b ON b.session = a.session AND b.step = a.step + 1 GROUP BY a.node, b.node)`;
}

export async function userFlowAnswer(tables: Tables, question: Question): Promise<Part> {
  const flow = question.userFlow ?? {};
  const [hops, kept] = [flow.maxHops || 5, flow.maxNodes || 20];
  const maxLinks = flow.maxLinks || 100;
  const head = `WITH ${flowTables(question)}`;
  const all = await tables.rows(`${head} SELECT * FROM links ORDER BY value DESC, source, target`);
  const first = await tables.rows(
    `${head} SELECT DISTINCT node, is_others FROM nodes WHERE step = ${isFromEnd(question) ? hops : 0}`,
  );
  const [cut = {}] = await tables.rows(`${head}
    SELECT (SELECT count(*) FROM steps WHERE step NOT BETWEEN 0 AND ${hops}) AS steps,
      (SELECT count(*) FROM ranked WHERE place > ${kept}) AS nodes`);
  const links = all.slice(0, maxLinks);
  const result = {
    userFlow: {
      nodes: nodesOf(first, links),
      links: links.map(({ source, target, value }) => ({ source, target, value: Number(value) })),
    },
  };
  const leftOut = {
    NODES_IN_OTHERS: Number(cut['nodes']),
    LINKS_BEYOND_LIMIT: all.length - links.length,
    STEPS_BEYOND_LIMIT: Number(cut['steps']),
  };
  return { result, leftOut };
}

/** By id, as their order has no meaning. */
function nodesOf(first: readonly Row[], links: readonly Row[]): Record<string, unknown>[] {
  const nodes = new Map<string, boolean>();
  for (const { node, is_others: isOthers } of first) nodes.set(String(node), isOthers === true);
  for (const link of links) {
    nodes.set(String(link['source']), link['source_others'] === true);
    nodes.set(String(link['target']), link['target_others'] === true);
  }
  const ids = [...nodes.keys()].sort();
  return ids.map((id) => ({ id, isOthers: nodes.get(id) ?? false }));
}
