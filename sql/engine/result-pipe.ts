// How a result leaves the engine: chDB writes it into a named pipe through INTO OUTFILE while we read the other end, so
// rows stream in any format, a slow reader slows the engine, and no result is ever in memory whole.

import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';

export class ResultPipe {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
    rmSync(path, { force: true });
    execFileSync('mkfifo', ['-m', '600', path]);
  }

  /**
   * Opens both ends. `bytes` ends after `finish`, when everything written before it is read. It must be read to its
   * end, even where nobody wants it: the engine waits for its reader, and would wait for ever for one that is gone.
   */
  open(): { bytes: Socket; finish: () => void } {
    const read = openSync(this.path, constants.O_RDONLY | constants.O_NONBLOCK);
    // A writer of our own: without one the pipe would end before the engine opens it, and between its openings.
    const write = openSync(this.path, constants.O_WRONLY);
    const bytes = new Socket({ fd: read, readable: true, writable: false });
    return { bytes, finish: () => closeSync(write) };
  }
}
