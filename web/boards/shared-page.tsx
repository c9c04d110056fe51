// A shared board: for everybody who has its link. It uses no session, so that nothing of an account is sent along.

import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
  type RenderResponse,
  SharedDashboardsService,
  type SharedTile,
} from '../../proto/gen/public/dashboards/v1/shared_dashboards_pb.js';
import { CardPage } from '../account/card-page.tsx';
import { GivenAnnotations } from '../annotations/known-annotations.ts';
import { isFramed } from '../browser/media.ts';
import { usePlot } from '../charts/plot-code.ts';
import { PartOfPage, type PartTables, partIn } from '../exports/shown-tables.ts';
import { Field } from '../fields/field.tsx';
import { areBotsCounted, BotsChip, botsWhere } from '../filter/bots.tsx';
import { useResource } from '../resource.ts';
import { idOfDrawing } from '../results/drawings/tile-drawings.ts';
import { Freshness } from '../results/provenance.tsx';
import { BusyNote } from '../retries/busy-note.tsx';
import { busySecondsOfShared } from '../retries/busy-tiles.ts';
import { Updating } from '../retries/updating.tsx';
import type { PageProps } from '../router.ts';
import { formatDay, formatTime, toDate } from '../time/time.tsx';
import { HasRangeInAddress } from '../time/use-zoom.ts';
import { learnClock } from '../time/zone.ts';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { Grid } from './grid.tsx';
import { ExportButtons } from './sharing/export-button.tsx';
import { type TileContent, TileView } from './tile-view.tsx';
import '../styles/boards.css';

const shared = createClient(
  SharedDashboardsService,
  createConnectTransport({ baseUrl: window.location.origin, useBinaryFormat: true }),
);

export function Page({ params }: PageProps) {
  usePlot();
  const token = params['token'] ?? '';
  const [password, setPassword] = useState('');
  const [round, setRound] = useState(0);
  const countBots = areBotsCounted();
  const key = `shared ${token} ${round} ${countBots}`;
  const answer = useResource(
    key,
    async (end) => {
      const board = await shared.render({ token, password, countBots }, { signal: end });
      if (board.time) learnClock(board.time.timezone, board.time.clock);
      return board;
    },
    busySecondsOfShared,
  );
  const { data, error, isLoading, reload } = answer;
  const code = error === undefined ? undefined : ConnectError.from(error).code;
  useEffect(() => {
    if (data) document.title = data.displayName;
  }, [data]);
  if (data && !error)
    return <Board board={data} isUpdating={isLoading} note={<BusyNote of={answer} />} />;
  if (code === Code.Unauthenticated)
    return (
      <Password
        value={password}
        onValue={setPassword}
        isWrong={round > 0 && !isLoading}
        onSend={() => setRound(round + 1)}
      />
    );
  if (code === Code.NotFound)
    return (
      <CardPage title="This link leads nowhere">
        <p>
          It was revoked, has ended, or was not copied whole. Ask whoever sent it for a new one.
        </p>
      </CardPage>
    );
  return (
    <main class="page shared">
      <h1 tabIndex={-1}>Shared board</h1>
      {error ? <Fault cause={error} retry={reload} /> : <Loading of="the board" />}
    </main>
  );
}

function Password(props: {
  value: string;
  onValue: (value: string) => void;
  isWrong: boolean;
  onSend: () => void;
}) {
  return (
    <CardPage title="This board has a password">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          props.onSend();
        }}
      >
        <Field
          label="Password"
          type="password"
          autoComplete="off"
          value={props.value}
          onValue={props.onValue}
          fault={props.isWrong ? 'This is not the password.' : undefined}
        />
        <button type="submit" class="primary" disabled={props.value === ''}>
          Show the board
        </button>
      </form>
    </CardPage>
  );
}

function Board(props: { board: RenderResponse; isUpdating: boolean; note: ComponentChildren }) {
  const { board, isUpdating, note } = props;
  const { time, tiles, renderTime, annotations } = board;
  // The same list for the same board, so that its charts are drawn once.
  const notes = useMemo(
    () => annotations.map((one, place) => ({ ...one, id: String(place) })),
    [annotations],
  );
  const tables = useRef(new Map<string, PartTables>()).current;
  const zone = time?.timezone || 'UTC';
  const answers = tiles.flatMap(({ content }) =>
    content.case === 'insight' ? [content.value] : [],
  );
  return (
    <main class="page shared" data-framed={isFramed} aria-busy={isUpdating}>
      <div class="page-head">
        <Updating isOn={isUpdating}>
          <h1 tabIndex={-1}>{board.displayName}</h1>
        </Updating>
        {time ? (
          <p class="hint">
            {formatDay(time.firstDay)} to {formatDay(time.lastDay)}, days of {zone}
          </p>
        ) : null}
        <BotsChip bots={botsWhere(board.hasBots)} />
        <ExportButtons
          name={board.displayName}
          isEmpty={tiles.length === 0}
          take={({ exportSharedBoard }) => exportSharedBoard(board, (id) => tables.get(id))}
        />
      </div>
      {board.description && !isFramed ? <p class="hint">{board.description}</p> : null}
      {note}
      <GivenAnnotations.Provider value={notes}>
        <HasRangeInAddress.Provider value={false}>
          <Tiles board={board} tablesOf={(id) => partIn(tables, id)} />
        </HasRangeInAddress.Provider>
      </GivenAnnotations.Provider>
      <p class="hint">
        {answers.length > 0 ? <Freshness answers={answers} zone={zone} /> : null}
        {renderTime ? `, answered at ${formatTime(toDate(renderTime), 'clock', zone)}. ` : null}
        {isFramed ? null : 'Made with Millrace.'}
      </p>
    </main>
  );
}

function Tiles(props: { board: RenderResponse; tablesOf: (tileId: string) => PartTables }) {
  const { tiles, time } = props.board;
  return (
    <Grid
      tiles={tiles.map((tile) => ({
        key: tile.id,
        title: tile.title,
        place: { x: tile.x ?? 0, y: tile.y ?? 0, w: tile.w, h: tile.h },
        view: (
          <PartOfPage.Provider value={props.tablesOf(tile.id)}>
            <TileView
              title={tile.title}
              rows={tile.h}
              content={contentOf(tile)}
              time={time}
              drawing={idOfDrawing(tile.drawing)}
            />
          </PartOfPage.Provider>
        ),
      }))}
    />
  );
}

function contentOf({ content, question, previous, membersOnly }: SharedTile): TileContent {
  if (membersOnly) return { kind: 'note', text: 'It is made in SQL, and shown to members alone.' };
  switch (content.case) {
    case 'markdown':
      return { kind: 'text', markdown: content.value };
    case 'error':
      return { kind: 'error', error: content.value };
    case 'insight':
      return question
        ? { kind: 'answer', spec: question, answer: content.value, previous }
        : { kind: 'text', markdown: '' };
    case undefined:
      return { kind: 'text', markdown: '' };
    default:
      return content satisfies never;
  }
}
