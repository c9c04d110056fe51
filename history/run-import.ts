// One import from its files to the instance: rows -> drafts -> ready events -> months -> sent, and then what was said
// of persons. A dry run ends before anything is sent.

import type { Clock } from '../platform/clock.ts';
import { checkEvents, type NumberedDraft } from './events/check-events.ts';
import type { HeldEvent } from './events/held-event.ts';
import { MonthWindow, type WindowBounds } from './events/month-window.ts';
import type { ReadyEvent } from './events/ready-event.ts';
import { createSessionWriter } from './events/visits.ts';
import { type HistoryFamily, type RowSink, reasons } from './families/history-family.ts';
import type { Input } from './files/open-input.ts';
import { type Row, readRows } from './files/rows.ts';
import { UnreadableFile } from './files/unreadable-file.ts';
import { CallSender, type SaidCall } from './sending/send-calls.ts';
import { EventSender } from './sending/send-events.ts';
import type { Service } from './sending/service.ts';
import type { Tally } from './tally.ts';

export interface ImportOptions {
  family: HistoryFamily;
  inputs: readonly Input[];
  /** Absent in a dry run. */
  service: Service | undefined;
  sendsTraits: boolean;
  tally: Tally;
  clock: Clock;
  /** Hears of the bytes of the files that were read. */
  onBytes: (bytes: number) => void;
  window?: WindowBounds;
}

/** Names ids in a dry run, which nobody sees. */
const noProject = '00000000-0000-4000-8000-000000000000';
/** The first rows, by which a family tells whether it would read the file wrongly. */
const sampleRows = 1_000;

/** Throws an UnreadableFile, a RequestRefused, and what reading a file throws. */
export async function runImport(options: ImportOptions): Promise<void> {
  const { family, service, tally, sendsTraits } = options;
  const projectId = service === undefined ? noProject : await projectOf(service);
  const writeSessions = createSessionWriter(projectId, family.name);
  const calls = service && createCalls(service, sendsTraits, tally);
  const sender =
    service &&
    new EventSender({
      ...{ service, timeDoubtMs: family.timeDoubtMs ?? 0 },
      onDone: ({ sent, stored }) => {
        tally.sent += sent;
        tally.stored += stored;
      },
    });
  const window = new MonthWindow(options.window);
  const send = async (events: readonly HeldEvent[]): Promise<void> => {
    writeSessions(events);
    await sender?.send(events);
  };
  for (const input of (await family.order?.(options.inputs)) ?? options.inputs) {
    for await (const { events, said } of decodedOf(input, projectId, options)) {
      for (const event of events) {
        tally.addEvent(event);
        if (sender !== undefined) window.add(event);
      }
      tally.said += said.length;
      for (const call of said) calls?.add(call);
      while (window.isFull) await send(window.takeLargest());
      if (calls?.isFull === true) await calls.flush();
    }
  }
  for (let events = window.takeEarliest(); events.length > 0; events = window.takeEarliest()) {
    await send(events);
  }
  await sender?.end();
  await calls?.flush();
  tally.calls += calls?.sent ?? 0;
}

async function projectOf(service: Service): Promise<string> {
  const { projectId } = await service.findStored([], 0, 0);
  return projectId;
}

function createCalls(service: Service, sendsTraits: boolean, tally: Tally): CallSender {
  return new CallSender({
    ...{ service, sendsTraits },
    onViolation: ({ place }, violation) => tally.refuse(violation, false, place),
  });
}

interface Decoded {
  events: ReadyEvent[];
  said: SaidCall[];
}

/** The rows of a file, some hundreds at a time. */
async function* decodedOf(
  input: Input,
  projectId: string,
  { family, tally, clock, onBytes }: ImportOptions,
): AsyncGenerator<Decoded> {
  const context = {
    ...{ projectId, family: family.name },
    ...{ receiveTimeMs: clock.nowMs(), correctsClock: false },
  };
  family.begin?.();
  const place = (number: number): string => `${input.name}:${number}`;
  let last: Row | undefined;
  for await (const rows of sampled(readRows(input, family.form, onBytes), input, family)) {
    last = rows.at(-1) ?? last;
    const drafts: NumberedDraft[] = [];
    const decoded: Decoded = { events: [], said: [] };
    let number = 0;
    const sink: RowSink = {
      event: (draft) => drafts.push({ draft, number }),
      ready: (event) => decoded.events.push(event),
      call: (call, timeMs) => decoded.said.push({ call, timeMs, place: place(number) }),
    };
    for (const row of rows) {
      tally.rows++;
      number = row.number;
      const reason = decodeRow(row, family, sink);
      if (reason !== undefined) tally.leave(reason, place(number));
    }
    const ready = checkEvents(drafts, context, (number, violation, isKept) =>
      tally.refuse(violation, isKept, place(number)),
    );
    decoded.events.push(...ready);
    yield decoded;
  }
  // An export that its vendor ended early ends within a row, or with a remark.
  if (last?.problem !== undefined) tally.brokenOff.push(input.name);
}

function decodeRow(
  { value, problem }: Row,
  family: HistoryFamily,
  sink: RowSink,
): string | undefined {
  return (problem && reasons[problem]) ?? family.decode(value, sink);
}

/** The same rows; throws an UnreadableFile before the first of them where the family doubts them. */
async function* sampled(
  batches: AsyncIterable<Row[]>,
  { name }: Input,
  { doubt }: HistoryFamily,
): AsyncGenerator<Row[]> {
  let sample: Row[] | undefined = doubt === undefined ? undefined : [];
  const check = (rows: readonly Row[]): void => {
    const why = doubt?.(rows);
    if (why !== undefined) throw new UnreadableFile(`${name}: ${why}`);
  };
  for await (const rows of batches) {
    if (sample === undefined) {
      yield rows;
      continue;
    }
    sample.push(...rows);
    if (sample.length < sampleRows) continue;
    check(sample);
    yield sample;
    sample = undefined;
  }
  if (sample === undefined) return;
  check(sample);
  yield sample;
}
