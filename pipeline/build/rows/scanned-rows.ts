// The fast path of a body: from its bytes into a scanner's columns, enriched there, with no object per event. It takes
// bodies as validation leaves them; every other body is left to the reference path (reference-rows.ts).

import { isUtf8 } from 'node:buffer';
import { autoColumns } from '../../../platform/clickhouse/event-columns.ts';
import * as limits from '../../../platform/limits.ts';
import type { FrameRequest, RequestContext } from '../../../proto/wire/frame.ts';
import { ColumnScanner } from '../../../proto/wire/scanner/column-scanner.ts';
import { wellKnownKinds } from '../../../proto/wire/well-known-kinds.ts';
import type { ScannedColumns } from '../../columns/record-batch.ts';
import { CachedSteps } from '../../enrich/cached-steps.ts';
import { slotProperties } from '../../enrich/event-row.ts';
import { textsRead } from '../../enrich/steps.ts';
import type { Agent } from '../../enrich/user-agent.ts';

/** More rows do not share more texts, and columns that stay in the processor's cache are copied faster. */
const maxRows = 8_000;
/** Larger bodies are rare. The scanner lays out ten times as much memory; the system backs only the part written to. */
const maxBytes = 4 * 1_048_576;
/** Twice the memory that is laid out at first: a scanner that odd bodies made larger is not kept. */
const maxKeptBytes = 96 * 1_048_576;

/** Slots of the columns that are no dictionaries: they hold each row's text in full. */
const fullTextSlots = autoColumns.flatMap(({ lowCardinality }, slot) =>
  lowCardinality ? [] : slot,
);

/** A request whose events are the scanned rows from `firstRow` to before `endRow`. */
export interface ScannedRequest {
  readonly context: RequestContext;
  readonly streamSeq: number;
  readonly firstRow: number;
  readonly endRow: number;
}

type Taken =
  | 'taken'
  /** There is no room beside the rows that are there. */
  | 'full'
  /** The request must take the reference path. */
  | 'left';

export class ScannedRows {
  readonly requests: ScannedRequest[] = [];
  readonly #scanner = new ColumnScanner({
    limits,
    wellKnown: wellKnownKinds,
    properties: slotProperties,
    textsRead,
    maxRows,
    maxBytes,
  });
  readonly #steps: CachedSteps;

  constructor(parseAgent: (userAgent: string) => Agent) {
    this.#steps = new CachedSteps(this.#scanner, parseAgent);
  }

  /** Takes all events of a request, or nothing. */
  take({ context, body }: FrameRequest, streamSeq: number): Taken {
    if (body.length > maxBytes || !isUtf8(body)) return 'left';
    const firstRow = this.#scanner.rows;
    try {
      if (!this.#steps.begin(context)) return 'full';
      const { receiveTimeMs, timeShiftMs } = context;
      const { kind } = this.#scanner.append(body, receiveTimeMs, timeShiftMs);
      if (kind === 'refused') return 'left';
      if (kind === 'full') return 'full';
      const endRow = this.#scanner.rows;
      if (!this.#steps.put(firstRow, endRow)) {
        this.#scanner.dropBody();
        return 'full';
      }
      this.requests.push({ context, streamSeq, firstRow, endRow });
      return 'taken';
    } catch {
      // A step that fails here fails on the reference path too, which sets the request aside.
      if (this.#scanner.rows !== firstRow) this.#scanner.dropBody();
      return 'left';
    }
  }

  /** All rows, enriched; the ids of cookieless rows are still to be set. */
  columns(): ScannedColumns {
    const texts = this.#scanner.textsOf(fullTextSlots);
    const fullTexts = new Map(texts?.map((own, index) => [fullTextSlots[index] ?? 0, own]));
    const { views, cells, outcomes } = this.#scanner;
    const textOf = (cell: number): string => this.#scanner.textOf(cell);
    return { views, slots: outcomes.slotsPut, fullTexts, cookielessIds: new Map(), cells, textOf };
  }

  /** It has grown so far that a new one should replace it. */
  get isLarge(): boolean {
    return this.#scanner.memoryBytes > maxKeptBytes;
  }

  /** Forgets all rows. */
  clear(): void {
    this.#scanner.clearRows();
    this.requests.length = 0;
  }

  /** Forgets all rows and texts. */
  forget(): void {
    this.clear();
    this.#scanner.clear();
    this.#steps.forget();
  }
}
