// Structured logs, one JSON line each, on stderr: stdout is for a command's own output. A line never holds a secret, a
// body or an address: callers pass named fields, never requests or headers.

import pino from 'pino';

export type Log = pino.Logger;

/** `level` is one of pino's: trace, debug, info, warn, error, fatal, silent. */
export function createLog(level: string): Log {
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
