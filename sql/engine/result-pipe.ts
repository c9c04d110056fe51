// The named pipe through which a result leaves the engine: chDB writes it by INTO OUTFILE while we read the other end.
// So rows stream in any format, a slow reader slows the engine, and no result is ever in memory whole.

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
   * Opens both ends. `bytes` ends after `finish`, once everything written before it is read. Read it to its end even
   * for a client that is gone: the engine waits for its reader, for ever if need be.
   */
  open(): { bytes: Socket; finish: () => void } {
    const read = openSync(this.path, constants.O_RDONLY | constants.O_NONBLOCK);
    // We hold a writer too: without it the pipe would end before the engine opens it, and between its openings.
    const write = openSync(this.path, constants.O_WRONLY);
    const bytes = new Socket({ fd: read, readable: true, writable: false });
    return { bytes, finish: () => closeSync(write) };
  }
}
