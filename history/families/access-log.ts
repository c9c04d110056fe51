// A web server's access log: its lines become page views of visitors whom address and agent tell.

import { count } from '../../demo/progress.ts';
import { createLineReader } from '../access-log/access-log.ts';
import type { ClientField } from '../access-log/client-address.ts';
import { refusals } from '../access-log/log-line.ts';
import { createMapper, type MapperOptions, type SkipReason } from '../access-log/page-views.ts';
import type { HistoryFamily } from './history-family.ts';

const skipped: Record<SkipReason, string> = {
  method: 'not a GET',
  status: 'redirects and errors',
  asset: 'images, styles, scripts and other files',
  time: 'before 2000 or in the future',
};

interface AccessLogOptions extends MapperOptions {
  client: ClientField | undefined;
}

export function createAccessLog(options: AccessLogOptions): HistoryFamily {
  let map = createMapper(options);
  let readLine = createLineReader(options.client);
  let [bots, withoutAgent] = [0, 0];
  return {
    ...{ name: 'access-log', form: 'lines' },
    begin() {
      // A line that stands twice in a file is two requests; in two files, copies of one log perhaps, it is one.
      map = createMapper(options);
      readLine = createLineReader(options.client);
    },
    decode(value, sink) {
      const read = readLine({ number: 0, text: String(value) });
      if (read === undefined) return undefined;
      if (read.kind === 'bad') return refusals[read.why];
      const mapped = map(read.line, read.text);
      if (mapped.kind === 'skipped') return skipped[mapped.why];
      if (mapped.bot) bots++;
      if (read.line.userAgent === undefined) withoutAgent++;
      const { event } = mapped;
      const { eventId, kind, distinctId } = event;
      const { timeMs } = read.line;
      const text = JSON.stringify(event);
      sink.ready({ text, eventId, kind, distinctId, timeMs, hasSession: false });
      return undefined;
    },
    notes: () => [
      `${count(bots)} by bots (marked $bot)`,
      ...(withoutAgent > 0
        ? [`${count(withoutAgent)} without a user agent: visitors behind one address are one`]
        : []),
    ],
  };
}
