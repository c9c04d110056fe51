// A card of rankings, one tab for each tile of the board. A row filters the whole page by what it stands for.

import { create } from '@bufbuild/protobuf';
import type {
  RenderResponse,
  Tile,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import {
  TopKQuery_Dimension as Dimension,
  Granularity,
  type InsightQuerySpec,
  InsightQuerySpecSchema,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Condition } from '../filter/condition.ts';
import { isValue } from '../question/rows-link.ts';
import { InsightResult } from '../results/insight-result.tsx';
import { LeftOutNote } from '../results/provenance.tsx';
import type { Rows } from '../results/shown.ts';
import { address, setQuery } from '../router.ts';
import { resultOf } from './board.ts';

export function RankingCard(props: {
  /** Of the choice in the address, and of the card's heading. */
  name: string;
  title: string;
  tiles: readonly { id: string; name: string }[];
  board: RenderResponse | undefined;
  onFilter: (condition: Condition) => void;
  /** Where the rows of a ranking are; undefined where no list shows them. */
  hrefOf: (spec: InsightQuerySpec, rows: Rows) => string | undefined;
  /** Where the ranking can be asked further. */
  questionOf: (spec: InsightQuerySpec) => string | undefined;
  onKind: (kind: string) => void;
}) {
  const { name, title, board, tiles } = props;
  const asked = address.value.query.get(name) ?? '';
  const first = tiles[0]?.id ?? '';
  const chosen = tiles.find(({ id }) => id === asked)?.id ?? first;
  const tile = board?.dashboard?.tiles.find(({ id }) => id === chosen);
  const spec = tile?.content.case === 'insight' ? tile.content.value : undefined;
  const href = spec ? props.hrefOf(spec, { kind: '' }) : undefined;
  const question = spec ? props.questionOf(spec) : undefined;
  return (
    <section class="card ranking" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {tiles.length > 1 ? (
          <div class="segments" role="group" aria-label={`${title}: what to rank`}>
            {tiles.map(({ id, name: tab }) => (
              <button
                key={id}
                type="button"
                aria-pressed={id === chosen}
                onClick={() =>
                  setQuery({ [name]: id === first ? undefined : id }, { replace: true })
                }
              >
                {tab}
              </button>
            ))}
          </div>
        ) : null}
      </header>
      <div class="ranking-body">
        {board && tile && spec ? (
          <Ranking {...props} board={board} tile={tile} spec={spec} />
        ) : null}
      </div>
      <p class="rows-link row">
        {href ? <a href={href}>Events of these</a> : null}
        {question ? <a href={question}>Ask further</a> : null}
      </p>
    </section>
  );
}

function Ranking(props: {
  board: RenderResponse;
  tile: Tile;
  spec: InsightQuerySpec;
  onFilter: (condition: Condition) => void;
  onKind: (kind: string) => void;
}) {
  const { board, tile, spec } = props;
  const outcome = resultOf(board, tile.id)?.outcome;
  if (outcome?.case === 'error') return <p class="hint bad">{outcome.value.message}</p>;
  if (outcome?.case !== 'insight') return null;
  const open = (rows: Rows): void => {
    const property = spec.topK?.property || spec.breakdowns[0]?.property;
    if (spec.topK?.dimension === Dimension.EVENT_KIND) props.onKind(rows.kind);
    else if (property) props.onFilter(isValue(property, rows.breakdown?.[property]));
  };
  return (
    <>
      <InsightResult
        label={tile.title}
        spec={create(InsightQuerySpecSchema, spec)}
        answer={outcome.value}
        granularity={board.time?.granularity ?? Granularity.DAY}
        isTile
        onOpen={open}
      />
      <LeftOutNote answer={outcome.value} hideGroups />
    </>
  );
}
