// The live view's three figures, and where the visitors are.

import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { BarList } from '../charts/bar-list.tsx';
import { Sparkline } from '../charts/sparkline.tsx';
import { type Bots, BotsNote } from '../filter/bots.tsx';
import { figure, plural } from '../ui/figures.ts';
import type { Minute } from './minute.ts';
import type { Visitors } from './visitors.ts';

/** `minute` and `visitors`: undefined while nobody knows them. */
export function LiveFigures(props: {
  projectId: string;
  minute: Minute | undefined;
  visitors: Visitors | undefined;
  bots: Bots;
}) {
  const { projectId, minute, visitors, bots } = props;
  const refused = minute?.refused ?? 0;
  const dead = minute?.dead ?? 0;
  const of = minute ? 'the last minute' : 'Not live';
  return (
    <div class="live-figures">
      <Figure name="Events a second" value={minute && (minute.arriving.at(-1) ?? 0)}>
        <Sparkline values={minute?.arriving ?? []} />
        <small>{of}</small>
      </Figure>
      <Figure name="Visitors" value={visitors?.total}>
        <small>
          {minute ? 'the last 5 minutes' : of}
          {bots === undefined || bots === 'none' ? null : ': '}
          <BotsNote bots={bots} />
        </small>
      </Figure>
      <Figure name="Refused" value={minute?.refused} isBad={refused > 0}>
        <small>
          {refused > 0 ? (
            <a href={`/p/${projectId}/events?tab=refused`}>the last minute: see why</a>
          ) : (
            of
          )}
          {dead > 0 ? (
            <a class="bad-text" href={`/p/${projectId}/events?tab=dead`}>
              {' '}
              {plural(dead, 'dead letter')}
            </a>
          ) : null}
        </small>
      </Figure>
    </div>
  );
}

function Figure(props: {
  name: string;
  value: number | undefined;
  isBad?: boolean;
  children: ComponentChildren;
}) {
  return (
    <section class="card live-figure">
      <h2>{props.name}</h2>
      <strong class={props.isBad ? 'bad-text' : ''}>
        {props.value === undefined ? '–' : figure(props.value)}
      </strong>
      {props.children}
    </section>
  );
}

type MapPart = typeof import('../charts/world-map.tsx');
const maxBars = 6;

/** The map comes in a chunk of its own; its room is kept until then. */
export function LivePlaces(props: {
  visitors: Visitors | undefined;
  flashes: (show: (codes: readonly string[]) => void) => () => void;
}) {
  const [part, setPart] = useState<MapPart>();
  useEffect(() => {
    void import('../charts/world-map.tsx').then(setPart);
  }, []);
  const all = props.visitors?.countries ?? [];
  const values = useMemo(
    () => new Map(all.map(({ code, visitors }) => [code.toUpperCase(), visitors])),
    [props.visitors],
  );
  const WorldMap: ComponentType<Parameters<MapPart['WorldMap']>[0]> | undefined = part?.WorldMap;
  return (
    <section class="card live-places">
      <h2>Where they are</h2>
      <div class="live-map">
        {WorldMap ? (
          <WorldMap
            label="Visitors of the last 5 minutes by country; the list below has the figures"
            values={values}
            flashes={props.flashes}
          />
        ) : null}
      </div>
      {all.length === 0 ? (
        <p class="hint">{props.visitors ? 'Nobody in the last 5 minutes.' : '–'}</p>
      ) : (
        <BarList
          label="Visitors by country"
          bars={all.slice(0, maxBars).map(({ code, visitors }) => ({
            name: part?.countryName(code) ?? code,
            value: visitors,
          }))}
          {...(props.visitors ? { total: props.visitors.total } : {})}
        />
      )}
    </section>
  );
}
