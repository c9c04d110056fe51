// Enrichment of rows that a column scanner holds, by the same steps: rows that nothing a step reads tells apart share
// its outcome, so that the steps run once for each such set of rows, on a row that stands for it.

import { type AddedProperty, mapVariants } from '../proto/wire/added-property.ts';
import type { ColumnScanner } from '../proto/wire/column-scanner.ts';
import { CellTuples } from './cell-tuples.ts';
import { putOfRow, putOfSender, type Sender, strippedBits, textsRead } from './enrich.ts';
import { EventRow, findSlot, type PropertyScalar } from './event-row.ts';
import type { Agent } from './user-agent.ts';

/** What the steps write into each row of a set: a cell for a slot. Parallel lists. */
interface Cells {
  readonly slots: readonly number[];
  readonly cells: readonly number[];
}

/** What the steps that read the sender do. */
interface OfSender {
  readonly sender: Sender;
  /** To every row that lacks it. */
  readonly added: readonly AddedProperty[];
  /** By which properties a row has. */
  readonly byPresent: Map<number, Cells>;
}

const none = new Int32Array();

export class CellEnrichment {
  readonly #scanner: ColumnScanner;
  readonly #parseAgent: (userAgent: string) => Agent;
  readonly #row = new EventRow();
  readonly #bySender = new Map<string, OfSender>();
  /** Of whether the key is a public one, what a row has, and the cells of the texts that steps read. */
  readonly #tuples = new CellTuples(2 + textsRead.length);
  readonly #byTuple: Cells[] = [];
  #ofSender: OfSender | undefined;

  constructor(scanner: ColumnScanner, parseAgent: (userAgent: string) => Agent) {
    this.#scanner = scanner;
    this.#parseAgent = parseAgent;
  }

  /** Cells have other meanings from now on. */
  forget(): void {
    this.#bySender.clear();
    this.#tuples.clear();
    this.#byTuple.length = 0;
    this.#ofSender = undefined;
  }

  /**
   * Sets what the scanner leaves out and adds for the requests of a sender, until the next one. False where there is
   * no room; throws where a step fails, or adds what the scanner cannot.
   */
  begin({ credential, userAgent, location, botScore, verifiedBot }: Sender): boolean {
    const key = JSON.stringify([credential, userAgent, location, botScore, verifiedBot]);
    const known = this.#bySender.get(key);
    if (known !== undefined && known === this.#ofSender) return true;
    const sender = { credential, userAgent, location, botScore, verifiedBot };
    const ofSender = known ?? { sender, added: this.#addedOf(sender), byPresent: new Map() };
    if (!this.#scanner.setPolicy(strippedBits[credential], ofSender.added)) return false;
    this.#bySender.set(key, ofSender);
    this.#ofSender = ofSender;
    return true;
  }

  /** Enriches the rows from `from` to `to`, all of the sender that was begun. False where there is no room. */
  put(from: number, to: number): boolean {
    const ofSender = this.#ofSender;
    if (ofSender === undefined) throw new Error('enrich-cells: no sender');
    const { present, texts } = this.#scanner.views;
    const read = textsRead.map((slot) => texts[slot] ?? none);
    const isPublic = ofSender.sender.credential === 'public' ? 1 : 0;
    for (let row = from; row < to; row++) {
      const has = present[row] ?? 0;
      const tuple = this.#tupleOf(isPublic, read, has, row);
      const ofRow = this.#byTuple[tuple] ?? this.#learnTuple(ofSender, row, tuple);
      const all = ofSender.byPresent.get(has) ?? this.#learnPresent(ofSender, has);
      if (ofRow === undefined || all === undefined) return false;
      write(texts, row, all);
      write(texts, row, ofRow);
    }
    return true;
  }

  /** What a row without any property gets besides texts. */
  #addedOf(sender: Sender): AddedProperty[] {
    const row = this.#row;
    row.reset();
    putOfSender({ context: sender, rows: [row], count: 1 }, this.#parseAgent);
    return row.keys.slice(0, row.count).map((key, index) => {
      return addedProperty(key, row.variants[index] ?? 0, row.values[index] ?? '');
    });
  }

  #learnPresent({ sender, byPresent }: OfSender, present: number): Cells | undefined {
    const row = this.#row;
    row.reset();
    row.present = present;
    putOfSender({ context: sender, rows: [row], count: 1 }, this.#parseAgent);
    const cells = this.#cellsOf(row, []);
    if (cells !== undefined) byPresent.set(present, cells);
    return cells;
  }

  #tupleOf(isPublic: number, read: readonly Int32Array[], present: number, row: number): number {
    const tuples = this.#tuples;
    tuples.put(0, isPublic);
    tuples.put(1, present);
    for (let index = 0; index < read.length; index++) {
      tuples.put(2 + index, read[index]?.[row] ?? 0);
    }
    return tuples.number();
  }

  #learnTuple({ sender }: OfSender, at: number, tuple: number): Cells | undefined {
    const row = this.#row;
    row.reset();
    const { present, texts } = this.#scanner.views;
    row.present = present[at] ?? 0;
    for (const slot of textsRead) {
      row.texts[slot] = this.#scanner.textOf(texts[slot]?.[at] ?? 0);
    }
    const before = [...row.texts];
    putOfRow({ context: sender, rows: [row], count: 1 }, this.#parseAgent);
    const cells = this.#cellsOf(row, before);
    if (cells !== undefined) this.#byTuple[tuple] = cells;
    return cells;
  }

  /** The texts of a row that differ from those of `before`; undefined where there is no room for them. */
  #cellsOf(row: EventRow, before: readonly string[]): Cells | undefined {
    const slots: number[] = [];
    const cells: number[] = [];
    for (let slot = 0; slot < row.texts.length; slot++) {
      const text = row.texts[slot] ?? '';
      if (text === (before[slot] ?? '')) continue;
      const cell = this.#scanner.cellOf(slot, text);
      if (cell === undefined) return undefined;
      slots.push(slot);
      cells.push(cell);
    }
    return { slots, cells };
  }
}

function write(texts: readonly Int32Array[], row: number, { slots, cells }: Cells): void {
  for (let index = 0; index < slots.length; index++) {
    const column = texts[slots[index] ?? 0];
    if (column !== undefined) column[row] = cells[index] ?? 0;
  }
}

function addedProperty(key: string, variant: number, value: PropertyScalar): AddedProperty {
  const slot = findSlot(key);
  if (slot === undefined) throw new Error(`enrich-cells: ${key} has no slot`);
  const name = mapVariants[variant];
  // The steps see to it that the sender's own is left alone, or was taken away before.
  const place = { slot, onlyIfAbsent: true };
  if (name === 'intValue') return { ...place, variant: name, value: BigInt(Number(value)) };
  if (name === 'doubleValue' && typeof value === 'number') {
    return { ...place, variant: name, value };
  }
  if (name === 'boolValue' && typeof value === 'boolean') {
    return { ...place, variant: name, value };
  }
  throw new Error(`enrich-cells: ${key} cannot be added as ${name}`);
}
