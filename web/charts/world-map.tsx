// A map of the world by country, for a lazy chunk: the paths are 27 kB. It is an image; the figures stand beside it as
// text.

import { countries, viewBox } from 'virtual:world';
import { useEffect, useRef } from 'preact/hooks';
import { figure } from '../../platform/words/figures.ts';
import { countryName } from '../../platform/words/value-words.ts';
import '../styles/world-map.css';

/** Shades of a country, by the logarithm of its number. */
const levels = 5;
const flashMs = 900;

/** `flashes` calls its argument with the codes of countries where something happens now; its answer ends that. */
export function WorldMap(props: {
  label: string;
  values: ReadonlyMap<string, number>;
  flashes?: (show: (codes: readonly string[]) => void) => () => void;
}) {
  const { values, flashes } = props;
  const box = useRef<SVGSVGElement>(null);
  useEffect(() => {
    if (!flashes || window.matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    const until = new Map<string, number>();
    return flashes((codes) => {
      const now = performance.now();
      for (const code of codes) {
        if ((until.get(code) ?? 0) > now) continue;
        until.set(code, now + flashMs);
        const path = box.current?.querySelector(`[data-code="${CSS.escape(code)}"]`);
        path?.animate({ fillOpacity: [0.2, 1] }, { duration: flashMs, easing: 'ease-out' });
      }
    });
  }, [flashes]);
  const most = Math.max(1, ...values.values());
  return (
    <svg ref={box} class="world" viewBox={viewBox} role="img" aria-label={props.label}>
      {Object.entries(countries).map(([code, path]) => {
        const value = values.get(code) ?? 0;
        // By the logarithm: one visitor is seen beside a thousand.
        const level =
          value > 0 ? Math.max(1, Math.ceil((Math.log1p(value) / Math.log1p(most)) * levels)) : 0;
        return (
          <path key={code} d={path} data-code={code} data-level={level}>
            {value > 0 ? <title>{`${countryName(code)}: ${figure(value)}`}</title> : null}
          </path>
        );
      })}
    </svg>
  );
}
