// Enrichment on the fast path: the same steps, run once for all rows that no step can tell apart, on one row that
// represents them. The scanner's module remembers the outcomes and gives them to the rows; this file computes the
// outcomes that the module does not know yet. It relies on what steps.ts allows a step to read and to put.

import { type AddedProperty, mapVariants } from '../../proto/wire/scanner/added-property.ts';
import type { Outcome } from '../../proto/wire/scanner/cell-outcomes.ts';
import type { ColumnScanner } from '../../proto/wire/scanner/column-scanner.ts';
import { EventRow, findSlot, type PropertyScalar } from './event-row.ts';
import { putFromRequest, putFromRow, type RequestFacts, strippedBits, textsRead } from './steps.ts';
import type { Agent } from './user-agent.ts';

/** The effects of the steps that read the request, for requests with equal facts. */
interface KnownFacts {
  readonly facts: RequestFacts;
  /** Names the facts to the scanner's module. */
  readonly number: number;
  /** Given to every row that lacks it. */
  readonly added: readonly AddedProperty[];
  /** The outcomes found so far, by their bits and cells: equal outcomes share one address. */
  readonly outcomes: Map<string, Outcome>;
}

/** Facts that are kept beyond a batch. One more, and all are forgotten and computed anew. */
const maxKnownFacts = 10_000;

export class CachedSteps {
  readonly #scanner: ColumnScanner;
  readonly #parseAgent: (userAgent: string) => Agent;
  readonly #row = new EventRow();
  readonly #known = new Map<string, KnownFacts>();
  #current: KnownFacts | undefined;

  /** The scanner must have been made with `textsRead`. */
  constructor(scanner: ColumnScanner, parseAgent: (userAgent: string) => Agent) {
    this.#scanner = scanner;
    this.#parseAgent = parseAgent;
  }

  /** Forgets every outcome. To be called when cells get other meanings. */
  forget(): void {
    this.#known.clear();
    this.#current = undefined;
    this.#scanner.outcomes.forget();
  }

  /**
   * Sets the properties that the scanner leaves out and adds for requests with these facts, until the next call. False
   * where there is no room; throws where a step fails, or adds a value of a type that the scanner cannot add.
   */
  begin({ credential, userAgent, location, botScore, verifiedBot }: RequestFacts): boolean {
    if (this.#scanner.outcomes.areMany) this.forget();
    const about = location ?? botScore ?? verifiedBot;
    const rest = about === undefined ? '' : JSON.stringify([location, botScore, verifiedBot]);
    // The length and the sign keep a user agent from looking like other facts, or like no user agent.
    const agent = userAgent === undefined ? '-' : `+${userAgent}`;
    const key = `${credential}${rest.length}:${rest}${agent}`;
    let known = this.#known.get(key);
    if (known !== undefined && known === this.#current) return true;
    if (known === undefined) {
      if (this.#known.size >= maxKnownFacts) this.forget();
      const facts = { credential, userAgent, location, botScore, verifiedBot };
      const number = this.#known.size;
      known = { facts, number, added: this.#addedFor(facts), outcomes: new Map() };
      this.#known.set(key, known);
    }
    this.#current = undefined;
    if (!this.#scanner.setPolicy(strippedBits[credential], known.added)) return false;
    this.#current = known;
    return true;
  }

  /**
   * Enriches the rows from `from` to `to`, whose request was begun. False where there is no room for their outcomes.
   */
  put(from: number, to: number): boolean {
    const known = this.#current;
    if (known === undefined) throw new Error('cached-steps: no request was begun');
    const { outcomes } = this.#scanner;
    const { facts, number } = known;
    const kind = facts.credential === 'public' ? 1 : 0;
    let row = outcomes.putByRow(from, to, kind);
    while (row < to) {
      const outcome = this.#outcomeByRow(facts, row);
      if (outcome === undefined || !outcomes.learnByRow(row, kind, outcome)) return false;
      row = outcomes.putByRow(row, to, kind);
    }
    row = outcomes.putBySender(from, to, number);
    while (row < to) {
      const outcome = this.#outcomeByRequest(known, row);
      if (outcome === undefined || !outcomes.learnBySender(row, number, outcome)) return false;
      row = outcomes.putBySender(row, to, number);
    }
    return true;
  }

  /** The properties besides texts that a row without any property gets. */
  #addedFor(facts: RequestFacts): AddedProperty[] {
    const row = this.#row;
    row.reset();
    putFromRequest({ facts, rows: [row], count: 1 }, this.#parseAgent);
    return row.keys.slice(0, row.count).map((key, index) => {
      return addedProperty(key, row.variants[index] ?? 0, row.values[index] ?? '');
    });
  }

  #outcomeByRequest({ facts, outcomes }: KnownFacts, row: number): Outcome | undefined {
    const representative = this.#withPropertiesOf(row);
    const before = [...representative.texts];
    putFromRequest({ facts, rows: [representative], count: 1 }, this.#parseAgent);
    const found = this.#differences(representative, before);
    if (found === undefined) return undefined;
    const key = `${found.bits} ${found.cells}`;
    const outcome = outcomes.get(key) ?? this.#scanner.outcomes.add(found.bits, found.cells);
    if (outcome !== undefined) outcomes.set(key, outcome);
    return outcome;
  }

  #outcomeByRow(facts: RequestFacts, row: number): Outcome | undefined {
    const representative = this.#withPropertiesOf(row);
    for (const slot of textsRead) {
      const cell = this.#scanner.views.texts[slot]?.[row] ?? 0;
      representative.texts[slot] = this.#scanner.textOf(cell);
    }
    const before = [...representative.texts];
    putFromRow({ facts, rows: [representative], count: 1 }, this.#parseAgent);
    const found = this.#differences(representative, before);
    return found && this.#scanner.outcomes.add(found.bits, found.cells);
  }

  /** A row that has the same properties as the scanned one, and no texts yet. */
  #withPropertiesOf(row: number): EventRow {
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
  // A step puts a value only where the row lacks it: the sender's own was removed before, or counts.
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
