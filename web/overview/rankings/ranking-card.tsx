// A card of rankings, one tab for each. A row filters the whole page by what it stands for.

import { useState } from 'preact/hooks';
import type { RenderResponse } from '../../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import type { InsightQuerySpec } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Condition } from '../../filter/condition.ts';
import { LeftOutNote } from '../../results/provenance.tsx';
import type { Rows } from '../../results/shown.ts';
import { address, setQuery } from '../../router.ts';
import { Fault } from '../../ui/fault.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Loading } from '../../ui/loading.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import type { Card, Ranking } from './cards.ts';
import { type DrawnRanking, RankedList } from './ranked-list.tsx';
import { conditionOf, type RankedRow, scaleOf } from './rows.ts';
import { type Asked, useRanking } from './use-ranking.ts';

const loadMap = async () => (await import('./place-map.tsx')).PlaceMap;
const loadAllRows = async () => (await import('./all-rows.tsx')).AllRows;

export type RankingProps = {
  asked: Asked;
  board: RenderResponse | undefined;
  onFilter: (condition: Condition) => void;
  /** Where the rows of a ranking are; undefined where no list shows them. */
  hrefOf: (spec: InsightQuerySpec, rows: Rows) => string | undefined;
  /** Where the ranking is a question of its own. */
  questionOf: (spec: InsightQuerySpec) => string | undefined;
  onKind: (kind: string) => void;
};

export function RankingCard(props: RankingProps & { card: Card }) {
  const { name, title, rankings } = props.card;
  const wanted = address.value.query.get(name) ?? '';
  const [first] = rankings;
  const chosen = rankings.find(({ id }) => id === wanted) ?? first;
  if (!chosen) return null;
  return (
    <section class="card ranking" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {rankings.length > 1 ? (
          <Tabs
            {...{ title, rankings, chosen }}
            onChoose={({ id }) =>
              setQuery({ [name]: id === first?.id ? undefined : id }, { replace: true })
            }
          />
        ) : null}
      </header>
      {/* A tab begins anew: it has nothing of the one before. */}
      <Tab key={chosen.id} {...props} title={title} ranking={chosen} />
    </section>
  );
}

/** Those that are no tabs stand in a menu, which is named for the chosen one of them. */
function Tabs(props: {
  title: string;
  rankings: readonly Ranking[];
  chosen: Ranking;
  onChoose: (ranking: Ranking) => void;
}) {
  const { title, rankings, chosen, onChoose } = props;
  const inMenu = rankings.filter(({ isInMenu }) => isInMenu);
  const named = chosen.isInMenu ? chosen : inMenu[0];
  return (
    <div class="segments" role="group" aria-label={`${title}: what to rank`}>
      {rankings
        .filter(({ isInMenu }) => !isInMenu)
        .map((ranking) => (
          <button
            key={ranking.id}
            type="button"
            aria-pressed={ranking === chosen}
            onClick={() => onChoose(ranking)}
          >
            {ranking.name}
          </button>
        ))}
      {named ? (
        <Menu
          label={`${named.name}: more to rank`}
          align="end"
          isPressed={named === chosen}
          button={
            <>
              {named.name}
              <Icon name="down" />
            </>
          }
        >
          {inMenu.map((ranking) => (
            <MenuItem
              key={ranking.id}
              isChosen={ranking === chosen}
              onChoose={() => onChoose(ranking)}
            >
              {ranking.name}
            </MenuItem>
          ))}
        </Menu>
      ) : null}
    </div>
  );
}

function Tab(props: RankingProps & { title: string; ranking: Ranking }) {
  const { asked, board, ranking, title } = props;
  const ranked = useRanking(asked, ranking, board);
  const { rows, answer, fault, error, isLoading, isStale, reload } = ranked;
  const [isAll, setAll] = useState(false);
  const open = (row: RankedRow): void => {
    setAll(false);
    const [text] = row.texts;
    if (ranking.property === undefined) {
      props.onKind(text ?? '');
      return;
    }
    const condition = conditionOf(ranking.property, row);
    if (condition) props.onFilter(condition);
  };
  const label = title === ranking.name ? title : `${title}, ${ranking.name}`;
  return (
    <>
      <div class="ranking-body" aria-busy={isLoading} data-stale={isStale}>
        {fault ? <p class="hint bad">{fault}</p> : null}
        {error ? <Fault cause={error} retry={reload} /> : null}
        {rows ? (
          <Drawn {...{ label, ranking, rows, isLoading }} onOpen={open} />
        ) : fault || error ? null : (
          <Loading of={ranking.name} />
        )}
        {answer ? <LeftOutNote answer={answer} hideGroups /> : null}
      </div>
      <Links {...props} onAll={() => setAll(true)} />
      {isAll ? (
        <Loaded
          load={loadAllRows}
          with={{ asked, ranking, label, onOpen: open, onClose: () => setAll(false) }}
        />
      ) : null}
    </>
  );
}

function Drawn(props: DrawnRanking) {
  const { ranking, rows } = props;
  if (rows.length === 0) return <p class="hint">Nothing in this range.</p>;
  if (ranking.isOnMap) return <Loaded load={loadMap} name="the map" with={props} />;
  return <RankedList {...props} {...scaleOf(rows)} />;
}

function Links(props: RankingProps & { ranking: Ranking; onAll: () => void }) {
  const { ranking, onAll } = props;
  const spec = ranking.spec(10);
  const href = props.hrefOf(spec, { kind: '' });
  const question = props.questionOf(spec);
  return (
    <p class="rows-link row">
      <button type="button" class="link" onClick={onAll}>
        View all
      </button>
      {href ? <a href={href}>View events</a> : null}
      {question ? <a href={question}>Open in Insights</a> : null}
    </p>
  );
}
