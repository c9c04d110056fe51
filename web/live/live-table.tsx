// The rows of the live view. Each is drawn again only where its own event changed.

import { Component } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { milliseconds } from '../../platform/words/figures.ts';
import { kindName } from '../../platform/words/value-words.ts';
import { reasonText, ruleText } from '../event/rule-text.ts';
import { serviceNowMs } from '../feed/live-feed.ts';
import { MarkedPlace } from '../marks/marked.tsx';
import { formatTime } from '../time/time.tsx';
import type { LiveRow, Stage } from './live-rows.ts';

const tones: Record<Stage, string> = {
  arriving: 'none',
  stored: 'good',
  duplicate: 'warn',
  refused: 'bad',
  dead: 'bad',
  unknown: 'none',
};

export type LiveColumn = 'who' | 'page' | 'place';

const titles: Record<LiveColumn, string> = { who: 'User id', page: 'Page', place: 'Place' };

/** `columns` beside stage, age and kind; without any, a rule stands with the kind. */
export function LiveTable(props: {
  rows: readonly LiveRow[];
  columns: readonly LiveColumn[];
  onOpen: (row: LiveRow) => void;
}) {
  const { rows, columns, onOpen } = props;
  return (
    <div class="live-table" role="region" aria-label="Events, newest first" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Stage</th>
            <th scope="col">Age</th>
            <th scope="col">Event</th>
            {columns.map((column) => (
              <th key={column} scope="col">
                {titles[column]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.key} row={row} columns={columns} onOpen={onOpen} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

type RowProps = {
  row: LiveRow;
  columns: readonly LiveColumn[];
  onOpen: (row: LiveRow) => void;
};

class Row extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    return next.row !== this.props.row || next.columns !== this.props.columns;
  }

  override render({ row, columns, onOpen }: RowProps) {
    const isRule = row.rule !== '';
    return (
      <tr data-stage={row.stage}>
        <td>
          <span class="badge" data-tone={tones[row.stage]} title={stageTitle(row)}>
            {row.stage}
          </span>
        </td>
        <td class="number">
          <Age since={row.since} />
        </td>
        <td class="clip">
          {row.event ? (
            <button type="button" class="link" title={row.kind} onClick={() => onOpen(row)}>
              {row.kind ? kindName(row.kind) : '(no name)'}
            </button>
          ) : (
            row.kind || '(unknown)'
          )}
          {isRule && columns.length === 0 ? <Rule row={row} /> : null}
        </td>
        {isRule && columns.length > 0 ? (
          <td class="clip" colSpan={columns.length}>
            <Rule row={row} />
          </td>
        ) : null}
        {isRule
          ? null
          : columns.map((column) => (
              <td key={column} class="clip" title={row[column]}>
                {column === 'place' ? (
                  <MarkedPlace country={row.country}>{row.place}</MarkedPlace>
                ) : (
                  row[column]
                )}
              </td>
            ))}
      </tr>
    );
  }
}

function Rule({ row }: { row: LiveRow }) {
  return (
    <span title={why(row)}>
      {' '}
      <span class="bad-text">{why(row)}</span> <code>{row.rule}</code>
      {row.who ? <small> from {row.who}</small> : null}
    </span>
  );
}

function why({ stage, rule, field }: LiveRow): string {
  return stage === 'dead' ? `${reasonText(rule)}.` : ruleText(rule, field);
}

function stageTitle({ stage, tookMs }: LiveRow): string {
  switch (stage) {
    case 'arriving':
      return 'On its way to the tables';
    case 'stored':
      return tookMs === undefined
        ? 'In the tables'
        : `In the tables ${milliseconds(tookMs)} after it arrived`;
    case 'duplicate':
      return 'Was stored before: it is counted once';
    case 'refused':
      return 'Its request was refused: nothing of it was taken';
    case 'dead':
      return 'Was accepted and cannot be stored';
    case 'unknown':
      return 'It arrived; what became of it was not heard. All accepted events are counted';
    default:
      return stage satisfies never;
  }
}

/** Seconds since then, by one clock for all rows: the service's, which stamped them. */
function Age({ since }: { since: Date }) {
  const now = useSeconds();
  const age = Math.max(0, Math.floor((now - since.getTime()) / 1000));
  const text =
    age < 60
      ? `${age} s`
      : age < 3600
        ? `${Math.floor(age / 60)} min`
        : `${Math.floor(age / 3600)} h`;
  return <span title={formatTime(since, 'clock')}>{text}</span>;
}

const listeners = new Set<() => void>();
let timer: number | undefined;

function useSeconds(): number {
  const [now, setNow] = useState(serviceNowMs());
  useEffect(() => {
    const tick = (): void => setNow(serviceNowMs());
    listeners.add(tick);
    timer ??= window.setInterval(() => {
      for (const listener of listeners) listener();
    }, 1000);
    return () => {
      listeners.delete(tick);
      if (listeners.size > 0) return;
      window.clearInterval(timer);
      timer = undefined;
    };
  }, []);
  return now;
}
