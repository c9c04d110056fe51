// Instantiates the WebAssembly modules of this folder. Knows nothing of what they compute.

import { readFileSync } from 'node:fs';

interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

/** The used part of a global that every JavaScript engine has and the project's types leave out. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  Instance: new (
    module: object,
    imports: Record<string, Record<string, WasmImport>>,
  ) => { readonly exports: Readonly<Record<string, WasmFunction | WasmMemory>> };
  Memory: new () => WasmMemory;
};

type WasmImport = (...values: number[]) => number;

/** A function that a module exports: addresses and lengths are in bytes, truth is 0 or 1. */
type WasmFunction = (...values: number[]) => number;

export interface WasmInstance {
  /** Growing replaces its buffer, and leaves views of the old buffer empty. */
  readonly memory: WasmMemory;
  /** Throws where the module exports no such function. */
  exported(name: string): WasmFunction;
}

const compiled = new Map<string, object>();

/**
 * A new instance of the module in `url`, which is compiled once per thread. Throws where it is unreadable or has no
 * memory.
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
