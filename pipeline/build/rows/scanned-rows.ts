// The short way of a body: from its bytes into a scanner's columns, enriched there, with no object per event. It takes
// bodies as ingest validates them; whatever else there is goes the readable way, decode.ts.

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

/** More do not share more texts, and columns that stay in the processor's cache are copied faster. */
const maxRows = 8_000;
/** Ten times as much memory is laid out, of which the system backs what is written to. Larger bodies are rare. */
const maxBytes = 4 * 1_048_576;
/** Twice what is laid out at first: what odd bodies made of it is not kept for good. */
const maxKeptBytes = 96 * 1_048_576;

/** Of the columns of plain text. */
const plainSlots = autoColumns.flatMap(({ lowCardinality }, slot) => (lowCardinality ? [] : slot));

/** A request whose events are among the scanned rows. */
export interface ScannedRequest {
  readonly context: RequestContext;
  readonly streamSeq: number;
  readonly firstRow: number;
  readonly endRow: number;
}

export type Taken =
  | 'taken'
  /** There is no room beside the rows that are there. */
  | 'full'
  /** It must be read in another way. */
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
  readonly #enrichment: CachedSteps;

  constructor(parseAgent: (userAgent: string) => Agent) {
    this.#enrichment = new CachedSteps(this.#scanner, parseAgent);
  }

  /** Takes all events of a request, or nothing. */
  take({ context, body }: FrameRequest, streamSeq: number): Taken {
    if (body.length > maxBytes || !isUtf8(body)) return 'left';
    const firstRow = this.#scanner.rows;
    try {
      if (!this.#enrichment.begin(context)) return 'full';
      const { kind } = this.#scanner.append(body, context.receiveTimeMs);
      if (kind === 'refused') return 'left';
      if (kind === 'full') return 'full';
      const endRow = this.#scanner.rows;
      if (!this.#enrichment.put(firstRow, endRow)) {
        this.#scanner.dropBody();
        return 'full';
      }
      this.requests.push({ context, streamSeq, firstRow, endRow });
      return 'taken';
    } catch {
      // A step that fails does so in the readable way too, and is dealt with there.
      if (this.#scanner.rows !== firstRow) this.#scanner.dropBody();
      return 'left';
    }
  }

  /** All rows, enriched, but for the ids of those that are cookieless. */
  columns(): ScannedColumns {
    const texts = this.#scanner.textsOf(plainSlots);
    const plainTexts = new Map(texts?.map((own, index) => [plainSlots[index] ?? 0, own]));
    const { views, cells, outcomes } = this.#scanner;
    const textOf = (cell: number): string => this.#scanner.textOf(cell);
    return { views, slots: outcomes.slotsPut, plainTexts, cookielessIds: new Map(), cells, textOf };
  }

  /** It has grown so far that another should take its place. */
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
    this.#enrichment.forget();
  }
}
