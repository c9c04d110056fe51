// Brings a WebAssembly module of this folder to life. It knows nothing of what a module does.

import { readFileSync } from 'node:fs';

interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

/** Of the global that every JavaScript engine has, what is used here; the project's types leave it out. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  Instance: new (
    module: object,
    imports: Record<string, Record<string, WasmImport>>,
  ) => { readonly exports: Readonly<Record<string, WasmFunction | WasmMemory>> };
  Memory: new () => WasmMemory;
};

type WasmImport = (...values: number[]) => number;

/** A function of a module: addresses and lengths in bytes, truth as 0 or 1. */
export type WasmFunction = (...values: number[]) => number;

export interface WasmInstance {
  /** Its buffer is another one after memory grew. */
  readonly memory: WasmMemory;
  /** Throws where the module exports no such function. */
  exported(name: string): WasmFunction;
}

const compiled = new Map<string, object>();

/**
 * A new instance of the module in `url`, which is compiled once. Throws where it cannot be read or lacks a memory.
 */
export function instantiate(
  url: URL,
  imports: Record<string, Record<string, WasmImport>>,
): WasmInstance {
  const module = compiled.get(url.href) ?? new WebAssembly.Module(readFileSync(url));
  compiled.set(url.href, module);
  const { exports } = new WebAssembly.Instance(module, imports);
  const memory = exports['memory'];
  if (!(memory instanceof WebAssembly.Memory)) throw new Error(`${url.href} exports no memory`);
  return {
    memory,
    exported(name) {
      const value = exports[name];
      if (typeof value !== 'function') throw new Error(`${url.href} exports no ${name}`);
      return value;
    },
  };
}
