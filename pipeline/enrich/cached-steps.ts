// Enrichment of rows that a column scanner holds, by the same steps: rows that nothing a step reads tells apart share
// its outcome, so that the steps run once for each such set of rows, on a row that stands for it. The scanner's module
// knows the outcomes and gives them to the rows; here is what is worked out for those that it does not know.

import { type AddedProperty, mapVariants } from '../../proto/wire/scanner/added-property.ts';
import type { Outcome } from '../../proto/wire/scanner/cell-outcomes.ts';
import type { ColumnScanner } from '../../proto/wire/scanner/column-scanner.ts';
import { EventRow, findSlot, type PropertyScalar } from './event-row.ts';
import { putFromRequest, putFromRow, type RequestFacts, strippedBits, textsRead } from './steps.ts';
import type { Agent } from './user-agent.ts';

/** What the steps that read the sender do. */
interface KnownFacts {
  readonly sender: RequestFacts;
  readonly number: number;
  /** To every row that lacks it. */
  readonly added: readonly AddedProperty[];
  /** Those found so far, by their bits and cells: equal ones are the same one. */
  readonly outcomes: Map<string, Outcome>;
}

/** Those whose outcomes are kept beyond a batch; more are found anew. */
const maxKnownFacts = 10_000;

export class CachedSteps {
  readonly #scanner: ColumnScanner;
  readonly #parseAgent: (userAgent: string) => Agent;
  readonly #row = new EventRow();
  readonly #known = new Map<string, KnownFacts>();
  #current: KnownFacts | undefined;

  /** The scanner must have been told of `textsRead`. */
  constructor(scanner: ColumnScanner, parseAgent: (userAgent: string) => Agent) {
    this.#scanner = scanner;
    this.#parseAgent = parseAgent;
  }

  /** Forgets what was found out. To be called when cells have other meanings. */
  forget(): void {
    this.#known.clear();
    this.#current = undefined;
    this.#scanner.outcomes.forget();
  }

  /**
   * Sets what the scanner leaves out and adds for the requests of a sender, until the next one. False where there is
   * no room; throws where a step fails, or adds what the scanner cannot.
   */
  begin({ credential, userAgent, location, botScore, verifiedBot }: RequestFacts): boolean {
    if (this.#scanner.outcomes.areMany) this.forget();
    const about = location ?? botScore ?? verifiedBot;
    const rest = about === undefined ? '' : JSON.stringify([location, botScore, verifiedBot]);
    const key = `${credential}${rest}${userAgent}`;
    let ofSender = this.#known.get(key);
    if (ofSender !== undefined && ofSender === this.#current) return true;
    if (ofSender === undefined) {
      if (this.#known.size >= maxKnownFacts) this.forget();
      const sender = { credential, userAgent, location, botScore, verifiedBot };
      const number = this.#known.size;
      ofSender = { sender, number, added: this.#addedFor(sender), outcomes: new Map() };
      this.#known.set(key, ofSender);
    }
    this.#current = undefined;
    if (!this.#scanner.setPolicy(strippedBits[credential], ofSender.added)) return false;
    this.#current = ofSender;
    return true;
  }

  /**
   * Enriches the rows from `from` to `to`, all of the sender that was begun. False where there is no room for what
   * that takes.
   */
  put(from: number, to: number): boolean {
    const ofSender = this.#current;
    if (ofSender === undefined) throw new Error('cached-steps: no sender');
    const { outcomes } = this.#scanner;
    const { sender, number } = ofSender;
    const kind = sender.credential === 'public' ? 1 : 0;
    let row = outcomes.putByRow(from, to, kind);
    while (row < to) {
      const outcome = this.#outcomeByRow(sender, row);
      if (outcome === undefined || !outcomes.learnByRow(row, kind, outcome)) return false;
      row = outcomes.putByRow(row, to, kind);
    }
    row = outcomes.putBySender(from, to, number);
    while (row < to) {
      const outcome = this.#outcomeByRequest(ofSender, row);
      if (outcome === undefined || !outcomes.learnBySender(row, number, outcome)) return false;
      row = outcomes.putBySender(row, to, number);
    }
    return true;
  }

  /** What a row without any property gets besides texts. */
  #addedFor(sender: RequestFacts): AddedProperty[] {
    const row = this.#row;
    row.reset();
    putFromRequest({ context: sender, rows: [row], count: 1 }, this.#parseAgent);
    return row.keys.slice(0, row.count).map((key, index) => {
      return addedProperty(key, row.variants[index] ?? 0, row.values[index] ?? '');
    });
  }

  #outcomeByRequest({ sender, outcomes }: KnownFacts, row: number): Outcome | undefined {
    const like = this.#likeOf(row);
    const before = [...like.texts];
    putFromRequest({ context: sender, rows: [like], count: 1 }, this.#parseAgent);
    const found = this.#differences(like, before);
    if (found === undefined) return undefined;
    const key = `${found.bits} ${found.cells}`;
    const outcome = outcomes.get(key) ?? this.#scanner.outcomes.add(found.bits, found.cells);
    if (outcome !== undefined) outcomes.set(key, outcome);
    return outcome;
  }

  #outcomeByRow(sender: RequestFacts, row: number): Outcome | undefined {
    const like = this.#likeOf(row);
    for (const slot of textsRead) {
      like.texts[slot] = this.#scanner.textOf(this.#scanner.views.texts[slot]?.[row] ?? 0);
    }
    const before = [...like.texts];
    putFromRow({ context: sender, rows: [like], count: 1 }, this.#parseAgent);
    const found = this.#differences(like, before);
    return found && this.#scanner.outcomes.add(found.bits, found.cells);
  }

  /** A row that stands for this one, without its texts. */
  #likeOf(row: number): EventRow {
    this.#row.reset();
    this.#row.present = this.#scanner.views.present[row] ?? 0;
    return this.#row;
  }

  /**
   * A bit for each text of a row that differs from that of `before`, and their cells, by slot; undefined where there is
   * no room for one.
   */
  #differences(
    row: EventRow,
    before: readonly string[],
  ): { bits: number; cells: number[] } | undefined {
    const cells: number[] = [];
    let bits = 0;
    for (const [slot, text] of row.texts.entries()) {
      if (text === before[slot]) continue;
      const cell = this.#scanner.cellOf(slot, text);
      if (cell === undefined) return undefined;
      cells.push(cell);
      bits |= 1 << slot;
    }
    return { bits, cells };
  }
}

function addedProperty(key: string, variant: number, value: PropertyScalar): AddedProperty {
  const slot = findSlot(key);
  if (slot === undefined) throw new Error(`cached-steps: ${key} has no slot`);
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
  throw new Error(`cached-steps: ${key} cannot be added as ${name}`);
}
