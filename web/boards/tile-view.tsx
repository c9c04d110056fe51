// One tile: its title, its text or its answer, or the reason why there is none. A failing tile fails alone.

import type { ComponentChildren } from 'preact';
import type {
  RenderedTime,
  StatementAnswer,
  StatementView,
  TileError,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import {
  Granularity,
  type InsightQuerySpec,
  type QueryResponse,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { InsightResult } from '../results/insight-result.tsx';
import { LeftOutNote, TouchNote } from '../results/provenance.tsx';
import type { Rows } from '../results/shown.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Loading } from '../ui/loading.tsx';

export type TileContent =
  | { kind: 'text'; markdown: string }
  | {
      kind: 'answer';
      spec: InsightQuerySpec;
      answer: QueryResponse;
      previous: QueryResponse | undefined;
    }
  | { kind: 'statement'; view: StatementView; answer: StatementAnswer }
  /** A sentence in the place of an answer. */
  | { kind: 'note'; text: string }
  | { kind: 'error'; error: TileError }
  | { kind: 'waiting' };

/** Many boards have no text, and most no statement. */
const loadMarkdown = async () => (await import('../markdown/markdown.tsx')).Markdown;
const loadStatementTile = async () =>
  (await import('./statements/statement-tile.tsx')).StatementTile;

/** What a tile has around its chart, in px. */
const framePx = 130;
export const rowPx = 20;

export function TileView(props: {
  title: string;
  rows: number;
  content: TileContent;
  time: RenderedTime | undefined;
  /** How an answer is drawn; as is usual where none is chosen. */
  drawing?: string | undefined;
  onOpen?: ((rows: Rows) => void) | undefined;
  /** Where its question can be asked further. */
  href?: string | undefined;
  tools?: ComponentChildren;
}) {
  const { title, content, rows, href } = props;
  const name = title || 'A tile without a title';
  return (
    <>
      <header class="tile-head">
        <h2 class={title ? 'clip' : 'unseen'}>{href ? <a href={href}>{name}</a> : name}</h2>
        {props.tools}
      </header>
      {/* What is higher than its tile scrolls, so it must be reachable by keyboard. */}
      <div class="tile-body" tabIndex={0} role="group" aria-label={title || 'Tile'}>
        <Content
          content={content}
          label={title || 'Tile'}
          time={props.time}
          drawing={props.drawing}
          height={Math.max(120, rows * rowPx - framePx)}
          onOpen={props.onOpen}
        />
      </div>
    </>
  );
}

function Content(props: {
  content: TileContent;
  label: string;
  time: RenderedTime | undefined;
  height: number;
  drawing: string | undefined;
  onOpen: ((rows: Rows) => void) | undefined;
}) {
  const { content, label, time, height, drawing, onOpen } = props;
  switch (content.kind) {
    case 'text':
      return <Loaded load={loadMarkdown} name={label} with={{ text: content.markdown }} />;
    case 'error':
      return (
        <p class="hint bad">
          {content.error.message} <small>({content.error.code})</small>
        </p>
      );
    case 'note':
      return <p class="hint">{content.text}</p>;
    case 'statement': {
      const { view, answer } = content;
      const shown = { label, view, answer, height };
      return <Loaded load={loadStatementTile} name={label} with={shown} />;
    }
    case 'waiting':
      return <Loading of={label} />;
    case 'answer':
      return (
        <>
          <InsightResult
            label={label}
            spec={content.spec}
            answer={content.answer}
            previous={content.previous}
            granularity={time?.granularity ?? Granularity.DAY}
            height={height}
            drawing={drawing}
            isTile
            onOpen={onOpen}
          />
          <LeftOutNote answer={content.answer} hideGroups />
          <TouchNote answer={content.answer} />
        </>
      );
    default:
      return content satisfies never;
  }
}
