// Where the visitors of the live view are, and why it is not known.

import type { ComponentType } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { plural } from '../../platform/words/figures.ts';
import { countryName } from '../../platform/words/value-words.ts';
import { BarList } from '../charts/bar-list.tsx';
import { ValueMark } from '../marks/value-mark.tsx';
import { loadCode } from '../shell/load-code.ts';
import type { Figures } from './figures.ts';
import { visitorsOf } from './live-figures.tsx';

type MapPart = typeof import('../charts/world-map.tsx');
const maxBars = 6;

/** The map comes in a chunk of its own; its room is kept until then. */
export function LivePlaces(props: {
  figures: Figures | undefined;
  areBotsCounted: boolean;
  flashes: (show: (codes: readonly string[]) => void) => () => void;
}) {
  const { figures, areBotsCounted } = props;
  const [part, setPart] = useState<MapPart>();
  useEffect(() => {
    const end = new AbortController();
    // Without the map the list says the same.
    loadCode(() => import('../charts/world-map.tsx'), end.signal).then(setPart, () => {});
    return () => end.abort();
  }, []);
  const bars = useMemo(
    () =>
      (figures?.countries ?? [])
        .map((one) => ({ code: one.code, value: visitorsOf(one, areBotsCounted) }))
        .filter(({ value }) => value > 0),
    [figures, areBotsCounted],
  );
  const values = useMemo(
    () => new Map(bars.map(({ code, value }) => [code.toUpperCase(), value])),
    [bars],
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
      {bars.length === 0 ? (
        <p class="hint">{figures ? nobody(figures) : '–'}</p>
      ) : (
        <BarList
          label="Visitors by country"
          bars={bars.slice(0, maxBars).map(({ code, value }) => ({
            name: countryName(code.toUpperCase()) || 'Unknown',
            mark: <ValueMark property="$country" value={code.toUpperCase()} />,
            value,
          }))}
          {...(figures ? { total: visitorsOf(figures, areBotsCounted) } : {})}
        />
      )}
      <WhyUnknown
        figures={figures}
        unknown={values.get('') ?? 0}
        isAnyKnown={bars.some(({ code }) => code !== '')}
      />
    </section>
  );
}

/** Rows may stand beside it: of bots, of repeated events, of refused requests. */
function nobody({ bots }: Figures): string {
  return bots > 0
    ? 'Only bots in the last 5 minutes.'
    : 'No event of a visitor was stored in the last 5 minutes.';
}

/** Without a database places come with events of servers, or not at all. */
function WhyUnknown(props: { figures: Figures | undefined; unknown: number; isAnyKnown: boolean }) {
  const { figures, unknown, isAnyKnown } = props;
  if (figures?.looksUpPlaces === false && !isAnyKnown)
    return (
      <p class="hint">
        Places are not looked up: the service has no geo database. Its operator sets{' '}
        <code>MILLRACE_GEO_DATABASE</code> to a city database in MaxMind’s format, or{' '}
        <code>MILLRACE_CDN</code> where a CDN tells places. Events of servers may name theirs.
      </p>
    );
  if (unknown === 0) return null;
  return (
    <p class="hint">
      The place of {plural(unknown, 'visitor')} is not known: their addresses are in no geo
      database, as private ones are, or a server sent their events without a place.
    </p>
  );
}
