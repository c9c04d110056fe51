// Instantiates the scanner's WebAssembly module and puts the limits and the table of well-known kinds into its memory.
// Scans nothing.

import { instantiate, type WasmInstance } from '../web-assembly.ts';
import type { WellKnownCheck, WellKnownKinds } from '../well-known-kinds.ts';
import * as codes from './assembly/codes.ts';
import * as layout from './assembly/layout.ts';

/** The bounds that the scanner's rules need, under their names in platform/limits.ts. */
export interface ScannerLimits {
  readonly maxEventsPerRequest: number;
  readonly maxMembersPerObject: number;
  readonly maxStringValueCodePoints: number;
  readonly maxPropertiesPerMap: number;
  readonly maxPropertyKeyCodePoints: number;
  readonly maxKindCharacters: number;
  readonly maxDistinctIdCodePoints: number;
  readonly minOccurTimeMs: number;
  readonly maxOccurTimeAheadMs: number;
  readonly sessionInactivityMs: number;
}

const checkNumbers = {
  id: codes.checkId,
  text: codes.checkText,
  non_empty_text: codes.checkNonEmptyText,
  amount: codes.checkAmount,
  currency: codes.checkCurrency,
  click_count: codes.checkClickCount,
  percent: codes.checkPercent,
  score: codes.checkScore,
} as const satisfies Record<WellKnownCheck, number>;

export interface ScannerModule extends WasmInstance {
  /** The names of the well-known properties, in the order of their numbers: snake_case and camelCase in turn. */
  readonly propertyNames: readonly string[];
}

/** A new module instance. Throws where the table of well-known kinds does not fit. */
export function instantiateScanner(
  limits: ScannerLimits,
  wellKnown: WellKnownKinds,
): ScannerModule {
  const propertyNames: string[] = [];
  const instance: WasmInstance = instantiate(new URL('scanner.wasm', import.meta.url), {
    'scan-number': { slowDouble: (start, end) => numberIn(instance.memory.buffer, start, end) },
  });
  putLimits(new DataView(instance.memory.buffer), limits);
  putWellKnown(instance, wellKnown, propertyNames);
  return { ...instance, propertyNames };
}

function numberIn(memory: ArrayBuffer, start = 0, end = 0): number {
  return Number(Buffer.from(memory, start, end - start).toString('latin1'));
}

function putLimits(view: DataView, limits: ScannerLimits): void {
  view.setInt32(layout.limitEvents, limits.maxEventsPerRequest, true);
  view.setInt32(layout.limitMembers, limits.maxMembersPerObject, true);
  view.setInt32(layout.limitKindCharacters, limits.maxKindCharacters, true);
  view.setInt32(layout.limitDistinctIdCodePoints, limits.maxDistinctIdCodePoints, true);
  view.setInt32(layout.limitProperties, limits.maxPropertiesPerMap, true);
  view.setInt32(layout.limitKeyCodePoints, limits.maxPropertyKeyCodePoints, true);
  view.setInt32(layout.limitStringCodePoints, limits.maxStringValueCodePoints, true);
  view.setFloat64(layout.limitMinTimeMs, limits.minOccurTimeMs, true);
  view.setFloat64(layout.limitTimeAheadMs, limits.maxOccurTimeAheadMs, true);
  view.setFloat64(layout.limitSessionInactivityMs, limits.sessionInactivityMs, true);
}

/** Fills the module's table, and puts both spellings of each property into `names`, in the order of its numbers. */
function putWellKnown(module: WasmInstance, wellKnown: WellKnownKinds, names: string[]): void {
  const bytes = new Uint8Array(module.memory.buffer);
  const addKind = module.exported('addKind');
  const addProperty = module.exported('addProperty');
  const encoder = new TextEncoder();
  for (const [kind, properties] of wellKnown) {
    if (properties.length === 0) continue;
    bytes.set(encoder.encode(kind), layout.bodyBase);
    let fits = addKind(kind.length) !== 0;
    for (const { snakeName, camelName, isRequired, check } of properties) {
      bytes.set(encoder.encode(snakeName + camelName), layout.bodyBase);
      fits &&=
        addProperty(
          names.length / 2,
          isRequired ? 1 : 0,
          checkNumbers[check],
          snakeName.length,
          camelName.length,
        ) !== 0;
      names.push(snakeName, camelName);
    }
    if (!fits) throw new Error(`scanner: no room for the well-known kind ${kind}`);
  }
}
