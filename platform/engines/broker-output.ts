// Reads the embedded nats-server's output: its warnings and errors become ours, at their own level and no more of them
// than a log can hold, because some name things that a client does as often as it likes.

import type { Log } from '../log.ts';

interface BrokerLine {
  level: 'debug' | 'warn' | 'error';
  text: string;
}

const form = /^\[\d+\] \d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d\.\d+ \[(INF|DBG|TRC|WRN|ERR|FTL)\] (.*)$/;
// About our own configuration, at each start: its passwords are new each time, in a file that only we can read, and its
// largest message holds the largest body.
const ourChoices = /^(Plaintext passwords detected|Maximum payloads over )/;
const windowMs = 10_000;
const maxLinesInWindow = 20;

/** A line in no known form is an error: a wrong configuration or Go's own last words. */
export function readBrokerLine(line: string): BrokerLine {
  const [, mark = '', text = line] = form.exec(line) ?? [];
  switch (mark) {
    case 'INF':
    case 'DBG':
    case 'TRC':
      return { level: 'debug', text };
    case 'WRN':
      return { level: ourChoices.test(text) ? 'debug' : 'warn', text };
    default:
      return { level: 'error', text };
  }
}

/** Logs lines at their level; beyond 20 warnings and errors in ten seconds, one line says that the rest is left out. */
export function createBrokerLog(
  log: Pick<Log, 'debug' | 'warn' | 'error'>,
  nowMs: () => number = () => performance.now(),
): (line: BrokerLine) => void {
  let windowStartMs = Number.NEGATIVE_INFINITY;
  let lines = 0;
  return ({ level, text }) => {
    if (level === 'debug') {
      log.debug(text);
      return;
    }
    if (nowMs() >= windowStartMs + windowMs) {
      windowStartMs = nowMs();
      lines = 0;
    }
    lines++;
    if (lines <= maxLinesInWindow) log[level](text);
    else if (lines === maxLinesInWindow + 1) {
      log.warn('nats-server says more: the rest of these ten seconds is left out');
    }
  };
}
