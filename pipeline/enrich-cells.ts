// Enrichment of rows that a column scanner holds, by the same steps: rows that nothing a step reads tells apart share
// its outcome, so that the steps run once for each such set of rows, on a row that stands for it.

import { type AddedProperty, mapVariants } from '../proto/wire/added-property.ts';
import type { ColumnScanner } from '../proto/wire/column-scanner.ts';
import { CellTuples } from './cell-tuples.ts';
import { putOfRow, putOfSender, type Sender, strippedBits, textsRead } from './enrich.ts';
import { EventRow, findSlot, type PropertyScalar } from './event-row.ts';
import type { Agent } from './user-agent.ts';

/** What the steps write into each row of a set: a cell for a slot. */
interface Outcome {
  readonly slots: readonly number[];
  readonly cells: readonly number[];
  /** A bit for each of the slots. */
  readonly bits: number;
}

/** What the steps that read the sender do. */
interface OfSender {
  readonly sender: Sender;
  /** To every row that lacks it. */
  readonly added: readonly AddedProperty[];
  /** By which properties a row has; equal ones are the same one. */
  readonly outcomes: Map<number, Outcome>;
}

/** Outcomes kept beyond a batch; more are found anew. */
const maxSenders = 10_000;
const maxTuples = 50_000;

export class CellEnrichment {
  readonly #scanner: ColumnScanner;
  readonly #parseAgent: (userAgent: string) => Agent;
  readonly #row = new EventRow();
  readonly #senders = new Map<string, OfSender>();
  /** Of whether the key is a public one, what a row has, and the cells of the texts that steps read. */
  readonly #tuples = new CellTuples(2 + textsRead.length);
  readonly #tuple = new Int32Array(2 + textsRead.length);
  /** By the number of a tuple. */
  readonly #outcomes: Outcome[] = [];
  #ofSender: OfSender | undefined;

  constructor(scanner: ColumnScanner, parseAgent: (userAgent: string) => Agent) {
    this.#scanner = scanner;
    this.#parseAgent = parseAgent;
  }

  /** Cells have other meanings from now on. */
  forget(): void {
    this.#senders.clear();
    this.#ofSender = undefined;
    this.#forgetTuples();
  }

  /**
   * Sets what the scanner leaves out and adds for the requests of a sender, until the next one. False where there is
   * no room; throws where a step fails, or adds what the scanner cannot.
   */
  begin({ credential, userAgent, location, botScore, verifiedBot }: Sender): boolean {
    const about = location ?? botScore ?? verifiedBot;
    const rest = about === undefined ? '' : JSON.stringify([location, botScore, verifiedBot]);
    const key = `${credential}${rest}${userAgent}`;
    let ofSender = this.#senders.get(key);
    if (ofSender !== undefined && ofSender === this.#ofSender) return true;
    if (ofSender === undefined) {
      const sender = { credential, userAgent, location, botScore, verifiedBot };
      ofSender = { sender, added: this.#addedFor(sender), outcomes: new Map() };
      if (this.#senders.size >= maxSenders) this.#senders.clear();
      this.#senders.set(key, ofSender);
    }
    this.#ofSender = undefined;
    if (!this.#scanner.setPolicy(strippedBits[credential], ofSender.added)) return false;
    this.#ofSender = ofSender;
    return true;
  }

  /**
   * Enriches the rows from `from` to `to`, all of the sender that was begun, and returns a bit for each slot that one
   * of them has a text in, perhaps for some more. Undefined where there is no room for a text.
   */
  put(from: number, to: number): number | undefined {
    const ofSender = this.#ofSender;
    if (ofSender === undefined) throw new Error('enrich-cells: no sender');
    if (this.#tuples.count >= maxTuples) this.#forgetTuples();
    const { present, texts } = this.#scanner.views;
    this.#tuple[0] = ofSender.sender.credential === 'public' ? 1 : 0;
    let bits = 0;
    let shared: Outcome | undefined;
    let sharedFrom = from;
    for (let row = from; row < to; row++) {
      const has = present[row] ?? 0;
      const ofRow = this.#outcomeOfRow(ofSender, texts, has, row);
      const outcome = ofSender.outcomes.get(has) ?? this.#learnOfSender(ofSender, has);
      if (ofRow === undefined || outcome === undefined) return undefined;
      bits |= has | ofRow.bits;
      write(texts, ofRow, row);
      if (outcome === shared) continue;
      if (shared !== undefined) fill(texts, shared, sharedFrom, row);
      shared = outcome;
      sharedFrom = row;
      bits |= outcome.bits;
    }
    if (shared !== undefined) fill(texts, shared, sharedFrom, to);
    return bits;
  }

  /** What a row without any property gets besides texts. */
  #addedFor(sender: Sender): AddedProperty[] {
    const row = this.#row;
    row.reset();
    putOfSender({ context: sender, rows: [row], count: 1 }, this.#parseAgent);
    return row.keys.slice(0, row.count).map((key, index) => {
      return addedProperty(key, row.variants[index] ?? 0, row.values[index] ?? '');
    });
  }

  #learnOfSender({ sender, outcomes }: OfSender, present: number): Outcome | undefined {
    const row = this.#row;
    row.reset();
    row.present = present;
    putOfSender({ context: sender, rows: [row], count: 1 }, this.#parseAgent);
    const found = this.#outcomeOf(row, []);
    if (found === undefined) return undefined;
    const same = [...outcomes.values()].find((known) => isSame(known, found));
    outcomes.set(present, same ?? found);
    return same ?? found;
  }

  #outcomeOfRow(
    { sender }: OfSender,
    texts: readonly Int32Array[],
    present: number,
    row: number,
  ): Outcome | undefined {
    const tuple = this.#tuple;
    tuple[1] = present;
    for (let index = 0; index < textsRead.length; index++) {
      tuple[2 + index] = texts[textsRead[index] ?? 0]?.[row] ?? 0;
    }
    const number = this.#tuples.numberOf(tuple);
    return this.#outcomes[number] ?? this.#learnOfRow(sender, number);
  }

  /** Of the row that `#tuple` tells of. */
  #learnOfRow(sender: Sender, number: number): Outcome | undefined {
    const row = this.#row;
    row.reset();
    row.present = this.#tuple[1] ?? 0;
    for (const [index, slot] of textsRead.entries()) {
      row.texts[slot] = this.#scanner.textOf(this.#tuple[2 + index] ?? 0);
    }
    const before = [...row.texts];
    putOfRow({ context: sender, rows: [row], count: 1 }, this.#parseAgent);
    const outcome = this.#outcomeOf(row, before);
    if (outcome !== undefined) this.#outcomes[number] = outcome;
    return outcome;
  }

  /** The texts of a row that differ from those of `before`; undefined where there is no room for them. */
  #outcomeOf(row: EventRow, before: readonly string[]): Outcome | undefined {
    const slots: number[] = [];
    const cells: number[] = [];
    let bits = 0;
    for (let slot = 0; slot < row.texts.length; slot++) {
      const text = row.texts[slot] ?? '';
      if (text === (before[slot] ?? '')) continue;
      const cell = this.#scanner.cellOf(slot, text);
      if (cell === undefined) return undefined;
      slots.push(slot);
      cells.push(cell);
      bits |= 1 << slot;
    }
    return { slots, cells, bits };
  }

  #forgetTuples(): void {
    this.#tuples.clear();
    this.#outcomes.length = 0;
  }
}

function write(texts: readonly Int32Array[], { slots, cells }: Outcome, row: number): void {
  for (let index = 0; index < slots.length; index++) {
    const column = texts[slots[index] ?? 0];
    if (column !== undefined) column[row] = cells[index] ?? 0;
  }
}

function fill(
  texts: readonly Int32Array[],
  { slots, cells }: Outcome,
  from: number,
  to: number,
): void {
  for (let index = 0; index < slots.length; index++) {
    texts[slots[index] ?? 0]?.fill(cells[index] ?? 0, from, to);
  }
}

function isSame(one: Outcome, other: Outcome): boolean {
  return one.bits === other.bits && one.cells.every((cell, index) => cell === other.cells[index]);
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
