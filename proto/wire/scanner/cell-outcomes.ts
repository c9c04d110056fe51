// Remembers the texts that enrichment writes into rows (an outcome), in a column scanner's module, by the values that
// they depend on. Enrichment computes an outcome once, for the first row with such values; the module applies it to all
// others.

import * as layout from './assembly/columns/column-layout.ts';
import type { ScannerModule } from './module.ts';

/** The address of an outcome. */
export type Outcome = number;

export class CellOutcomes {
  readonly #module: ScannerModule;
  readonly #functions: ReturnType<typeof functionsOf>;

  /** `textsRead` are the slots of the texts that a row's outcome depends on. Throws where there are too many. */
  constructor(module: ScannerModule, textsRead: readonly number[]) {
    this.#module = module;
    this.#functions = functionsOf(module);
    for (const slot of textsRead) {
      if (this.#functions.addTextRead(slot) === 0) throw new Error('cell outcomes: too many texts');
    }
  }

  /** Outcomes take more than half of their room; another body may need the rest. */
  get areMany(): boolean {
    return this.#functions.bytesOfOutcomes() > layout.outcomeRoomBytes / 2;
  }

  /** A bit for each slot in which a row had, or was given, a property since rows were forgotten. */
  get slotsPut(): number {
    return this.#functions.slotsPut();
  }

  /** Forgets all outcomes; rows keep the texts that they were given. */
  forget(): void {
    this.#functions.forgetOutcomes();
  }

  /** The outcome that puts `cells` into the text columns with a bit in `bits`, lowest first; undefined without room. */
  add(bits: number, cells: readonly number[]): Outcome | undefined {
    const scratch = this.#functions.regionOf(layout.regionScratch);
    new Int32Array(this.#module.memory.buffer, scratch, cells.length).set(cells);
    return this.#functions.addOutcome(bits) || undefined;
  }

  /**
   * Applies the outcomes that depend on `kind`, on a row's properties and on its `textsRead`. Returns the first row
   * whose outcome is unknown, and leaves that row and all behind it alone; `to` where all rows are done.
   */
  putByRow(from: number, to: number, kind: number): number {
    return this.#functions.putRowOutcomes(from, to, kind);
  }

  /** Applies the outcomes that depend on `sender` and on a row's properties, and returns as `putByRow` does. */
  putBySender(from: number, to: number, sender: number): number {
    return this.#functions.putSenderOutcomes(from, to, sender);
  }

  /** Remembers the outcome of all rows with `kind` and this row's texts and properties. False without room. */
  learnByRow(row: number, kind: number, outcome: Outcome): boolean {
    return this.#functions.learnRowOutcome(row, kind, outcome) !== 0;
  }

  /** Remembers the outcome of all rows with `sender` and this row's properties. False where there is no room. */
  learnBySender(row: number, sender: number, outcome: Outcome): boolean {
    return this.#functions.learnSenderOutcome(row, sender, outcome) !== 0;
  }
}

function functionsOf(module: ScannerModule) {
  return {
    addOutcome: module.exported('addOutcome'),
    addTextRead: module.exported('addTextRead'),
    bytesOfOutcomes: module.exported('bytesOfOutcomes'),
    forgetOutcomes: module.exported('forgetOutcomes'),
    learnRowOutcome: module.exported('learnRowOutcome'),
    learnSenderOutcome: module.exported('learnSenderOutcome'),
    putRowOutcomes: module.exported('putRowOutcomes'),
    putSenderOutcomes: module.exported('putSenderOutcomes'),
    regionOf: module.exported('regionOf'),
    slotsPut: module.exported('slotsPut'),
  };
}
