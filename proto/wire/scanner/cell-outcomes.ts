// What enrichment writes over the texts of rows, kept in a column scanner's module by what it depends on. What it
// does not know it asks for: the first such row is answered, and what is learned of it holds for all its like.

import * as layout from './assembly/columns/column-layout.ts';
import type { ScannerModule } from './module.ts';

/** The address of an outcome. */
export type Outcome = number;

export class CellOutcomes {
  readonly #module: ScannerModule;
  readonly #functions: ReturnType<typeof functionsOf>;

  /** `textsRead` are the slots of the texts that a row's outcome depends on; throws where they are too many. */
  constructor(module: ScannerModule, textsRead: readonly number[]) {
    this.#module = module;
    this.#functions = functionsOf(module);
    for (const slot of textsRead) {
      if (this.#functions.addTextRead(slot) === 0) throw new Error('cell outcomes: too many texts');
    }
  }

  /** They take half of their room: another body may need the rest. */
  get areMany(): boolean {
    return this.#functions.bytesOfOutcomes() > layout.outcomeRoomBytes / 2;
  }

  /** A bit for each slot that a row had or was given a property in since rows were forgotten. */
  get slotsPut(): number {
    return this.#functions.slotsPut();
  }

  /** Forgets all of them; rows keep what they were given. */
  forget(): void {
    this.#functions.forgetOutcomes();
  }

  /** The outcome that puts `cells` into the text columns with a bit, the lowest first; undefined without room. */
  add(bits: number, cells: readonly number[]): Outcome | undefined {
    const scratch = this.#functions.regionOf(layout.regionScratch);
    new Int32Array(this.#module.memory.buffer, scratch, cells.length).set(cells);
    return this.#functions.addOutcome(bits) || undefined;
  }

  /**
   * Gives rows what depends on `kind`, on the properties they have and on their texts that are read. Returns the first
   * row of which it is not known, and nothing was given to it and those behind; `to` where all are done.
   */
  putByRow(from: number, to: number, kind: number): number {
    return this.#functions.putRowOutcomes(from, to, kind);
  }

  /** Likewise what depends on `sender` and on the properties they have. */
  putBySender(from: number, to: number, sender: number): number {
    return this.#functions.putSenderOutcomes(from, to, sender);
  }

  /** `outcome` is what rows like this one get by their texts. False where there is no room. */
  learnByRow(row: number, kind: number, outcome: Outcome): boolean {
    return this.#functions.learnRowOutcome(row, kind, outcome) !== 0;
  }

  /** `outcome` is what rows like this one get by their sender. False where there is no room. */
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
