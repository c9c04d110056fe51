// The live view's three figures.

import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { figure, plural } from '../../platform/words/figures.ts';
import { Sparkline } from '../charts/sparkline.tsx';
import { BotsChip } from '../filter/bots.tsx';
import type { Figures } from './figures.ts';
import type { Minute } from './minute.ts';

/** `minute` and `figures`: undefined while nobody knows them. */
export function LiveFigures(props: {
  projectId: string;
  minute: Minute | undefined;
  figures: Figures | undefined;
  areBotsCounted: boolean;
}) {
  const { projectId, minute, figures, areBotsCounted } = props;
  const refused = minute?.refused ?? 0;
  const dead = minute?.dead ?? 0;
  return (
    <div class="live-figures">
      <Figure name="Events" value={minute && minute.seconds > 0 ? minute.events : undefined}>
        <Sparkline values={minute?.arriving ?? []} />
        <small>
          {span(minute, minute?.seconds)}
          {minute && minute.events > 0
            ? ` · ${figure(minute.events / minute.seconds)} a second`
            : ''}
        </small>
      </Figure>
      <Figure name="Visitors" value={figures && visitorsOf(figures, areBotsCounted)}>
        <small>{minute ? 'the last 5 minutes' : 'Not live'}</small>
        <Bots figures={figures} areBotsCounted={areBotsCounted} />
      </Figure>
      <Figure name="Refused" value={minute?.refused} isBad={refused > 0}>
        <small>
          {refused > 0 ? (
            <a href={`/p/${projectId}/events?tab=refused`}>
              {span(minute, minute?.heardSeconds)}: see why
            </a>
          ) : (
            span(minute, minute?.heardSeconds)
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

/** What a figure is about. A minute of which less is known does not pass for a whole one. */
function span(minute: Minute | undefined, seconds = 0): string {
  if (!minute) return 'Not live';
  return seconds < 60 && seconds > 0 ? `the last ${seconds} s` : 'the last minute';
}

export function visitorsOf(
  { visitors, bots }: { visitors: number; bots: number },
  areBotsCounted: boolean,
): number {
  return areBotsCounted ? visitors + bots : visitors;
}

/** No word of bots before some were there; its place is kept, so that it moves nothing when it comes. */
function Bots(props: { figures: Figures | undefined; areBotsCounted: boolean }) {
  const { figures, areBotsCounted } = props;
  const wereThere = useRef(false);
  wereThere.current ||= areBotsCounted || (figures?.bots ?? 0) > 0;
  return (
    <div class="live-bots" data-shown={wereThere.current}>
      <BotsChip bots={areBotsCounted ? 'counted' : 'left out'} />
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
