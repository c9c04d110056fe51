// Reads a web server's access log line by line: tells the format of each line, behind a prefix of syslog or of a
// container's log or not.

import { type Line, maxLogLineBytes } from '../files/lines.ts';
import type { ClientField } from './client-address.ts';
import { bad, type LogLine, type Parsed, type Refusal } from './log-line.ts';
import { parseJson, W3cLines } from './named-formats.ts';
import { parseText } from './text-formats.ts';

export type ReadLine =
  | { kind: 'line'; number: number; text: string; line: LogLine }
  | { kind: 'bad'; number: number; text: string; why: Refusal };

/**
 * Returns a function that reads the lines of one file in order; undefined for a line that is empty or a comment. A line
 * over 64 KiB is bad and given in part.
 */
export function createLineReader(
  client?: ClientField | undefined,
): (line: Line) => ReadLine | undefined {
  const parse = createLineParser(client);
  return ({ number, text }) => {
    if (text === '') return undefined;
    const parsed = text.length >= maxLogLineBytes ? bad('request') : parse(text);
    return parsed.kind === 'none' ? undefined : { number, text, ...parsed };
  };
}

const timestamp = String.raw`\d{4}-\d\d-\d\dT[\d:.]{8,18}(?:Z|[+-]\d\d:\d\d)`;
/** As RFC 3164 and RFC 5424 have it, as rsyslog and journald write it, and as logs of containers do. */
const prefix = new RegExp(
  [
    String.raw`^(?:<\d{1,3}>)?(?:[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d|${timestamp})`,
    String.raw` \S{1,255} [^\s:[\]"]{1,128}(?:\[\d{1,10}\])?: `,
    String.raw`|^<\d{1,3}>1 \S{1,64} \S{1,255} \S{1,48} \S{1,128} \S{1,32} (?:-|\[[^\]]{0,1024}\]) (?:\ufeff)?`,
    `|^${timestamp} (?:std(?:out|err) [FP] )?`,
  ].join(''),
);

/** Returns a function that reads the lines of one file in order: a W3C line is read by the names above it. */
export function createLineParser(client?: ClientField | undefined): (text: string) => Parsed {
  const w3c = new W3cLines();
  return (whole) => {
    if (whole.startsWith('#')) {
      w3c.directive(whole);
      return { kind: 'none' };
    }
    if (w3c.isUnderNames()) return w3c.parse(whole, client);
    const text = whole.replace(prefix, '');
    if (text.startsWith('{')) return parseJson(text, client);
    return w3cShape.test(text) ? bad('columns') : parseText(text, client);
  };
}

/** A date and a time of their own begin the lines of IIS and of CloudFront. */
const w3cShape = /^\d{4}-\d\d-\d\d[\t ]\d\d:\d\d:\d\d[\t ]/;
