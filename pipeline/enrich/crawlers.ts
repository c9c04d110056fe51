// Tells agents of programs from those of browsers: crawlers, previewers, monitors, headless browsers, HTTP libraries.
// The names are those of the list crawler-user-agents; a pattern of the forms in which crawlers introduce themselves
// finds those that the list does not have yet. Slow beside a look-up: user-agent.ts remembers what was found.

import { createRequire } from 'node:module';
import { isObject } from '../../platform/json.ts';

/**
 * Agents on the list that may have a person behind them: apps for Android send okhttp's, and CloudFront puts its own in
 * the place of every visitor's unless it is told otherwise.
 */
const ofPeople: ReadonlySet<string> = new Set(['okhttp', 'Amazon CloudFront']);

/**
 * "(compatible; Name/1.0; +https://…)" as no browser but Internet Explorer and Konqueror writes it, and words that no
 * browser has. The maker of phones Cubot names itself in theirs.
 */
const introduction =
  /\(compatible; (?!MSIE|Konqueror)|\+https?:|(?<!cu)bot(?:\b|[_-])|crawl|spider|slurp|archiver|headless|feed ?(?:fetcher|parser|reader)|\brss\b/i;
const programs =
  /^(?:Ruby|Java|Perl|PHP|libfetch|fetch|Wget|python|Python|node|undici|GuzzleHttp|Faraday|PostmanRuntime|ELB-HealthChecker|kube-probe|GoogleHC)\b/;

const known = new RegExp(patternsOfList().join('|'));

/** False for an empty agent: it tells nothing. */
export function isCrawler(userAgent: string): boolean {
  return known.test(userAgent) || introduction.test(userAgent) || programs.test(userAgent);
}

/** The package has its list as JSON, which modules cannot import on every Node that is supported. */
function patternsOfList(): string[] {
  const list: unknown = createRequire(import.meta.url)('crawler-user-agents');
  const entries = Array.isArray(list) ? list.filter(isObject) : [];
  const patterns = entries.map(({ pattern }) => String(pattern));
  return patterns.filter((pattern) => !ofPeople.has(pattern));
}
