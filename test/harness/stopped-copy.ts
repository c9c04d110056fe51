// A copy of a data directory that nothing runs on.

import { cpSync, lstatSync } from 'node:fs';

/** Copies the directory of a stopped engine or service, without the pipes that an engine leaves behind. */
export function copyStopped(directory: string, copy: string): void {
  cpSync(directory, copy, { recursive: true, filter: (path) => !lstatSync(path).isFIFO() });
}
