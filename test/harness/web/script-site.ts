// A site of another origin whose pages carry the browser's script under a strict policy, and its visitors in a real
// browser. The first part of a page's path names the attributes of the script's element.

import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { eventually, rows } from '../clients/client.ts';

interface ScriptSiteOptions {
  browser: Browser;
  /** Where the script comes from. */
  scriptUrl: string;
  /** Where its events go. */
  eventsUrl: string;
  key: string;
  /** By the first part of a page's path. A page that is not listed has the script without any. */
  attributes: Readonly<Record<string, string>>;
  /** Of every visitor; the browser's own unless given, which names a program. */
  userAgent?: string;
}

export interface Visit {
  page: Page;
  context: BrowserContext;
  /** What the script told the console. */
  said: string[];
  openTab(path: string): Promise<Page>;
}

export interface ScriptSite {
  url: string;
  /** An address that is another site in the eyes of a browser. */
  elsewhere: string;
  /** What broke the policy, and what was thrown on a page. */
  violations: string[];
  /** A visitor of their own, who opens a page; `init` runs on each of their pages before all else. */
  visit(path: string, init?: string): Promise<Visit>;
  stop(): Promise<void>;
}

const scripts: Readonly<Record<string, string>> = {
  '/early.js': "(window.millrace ??= { q: [] }).q.push(['track', 'early', { n: 1 }]);",
  // As a tag manager adds a script: attributes that it does not know are lost.
  '/tags.js': `document.head.append(Object.assign(document.createElement('script'), {
    src: document.currentScript.dataset.src }))`,
};

export async function startScriptSite(options: ScriptSiteOptions): Promise<ScriptSite> {
  const { scriptUrl, eventsUrl } = options;
  const bytes = new Uint8Array(await (await fetch(`${scriptUrl}/millrace.js`)).arrayBuffer());
  const integrity = `sha384-${createHash('sha384').update(bytes).digest('base64')}`;
  const policy = [
    "default-src 'none'",
    `script-src 'self' ${scriptUrl}`,
    `connect-src ${eventsUrl}`,
    "base-uri 'none'",
  ];
  const noTextAsCode = ["require-trusted-types-for 'script'", "trusted-types 'none'"];
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/\?.*/, '');
    const script = scripts[path];
    const kind = path.split('/')[1] ?? '';
    // A tag manager writes addresses of scripts.
    const policies = kind === 'tags' ? policy : [...policy, ...noTextAsCode];
    response.writeHead(200, {
      'content-type': script === undefined ? 'text/html; charset=utf-8' : 'text/javascript',
      'content-security-policy': policies.join('; '),
      // The address of a page that links here is then told whole.
      'referrer-policy': 'unsafe-url',
    });
    response.end(script ?? pageOf(kind, options, integrity, elsewhere));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://localhost:${port}`;
  const elsewhere = `http://127.0.0.1:${port}/early.js`;
  const violations: string[] = [];
  return {
    url,
    elsewhere,
    violations,
    visit: (path, init) => visit(options, url, path, violations, init),
    async stop() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function pageOf(
  kind: string,
  { scriptUrl, eventsUrl, key, attributes }: ScriptSiteOptions,
  integrity: string,
  elsewhere: string,
): string {
  const src = `src="${scriptUrl}/millrace.js"`;
  const whole = `${src} integrity="${integrity}" crossorigin
    data-host="${eventsUrl}" data-key="${key}" ${attributes[kind] ?? ''}`;
  const element = {
    granted: `<script src="/early.js"></script><script defer ${whole}></script>`,
    module: `<script type="module" ${whole}></script>`,
    bare: `<script type="module" ${src}></script>`,
    tags: `<script src="/tags.js" data-src="${scriptUrl}/millrace.js"></script>`,
  }[kind];
  return `<!doctype html><title>shop</title>
    ${element ?? `<script defer ${whole}></script>`}
    <a id="out" href="${elsewhere}?token=1&utm_source=shop#part">out</a>
    <a id="file" href="/files/price.PDF?token=1">file</a>
    <button data-event="bought" data-event-plan="pro"><b id="inner">buy</b></button>`;
}

async function visit(
  { browser, userAgent }: ScriptSiteOptions,
  url: string,
  path: string,
  violations: string[],
  init?: string,
): Promise<Visit> {
  // Without any route of its own: a browser whose requests are intercepted shows no preflights.
  const context = await browser.newContext(userAgent === undefined ? {} : { userAgent });
  if (init !== undefined) await context.addInitScript(init);
  const said: string[] = [];
  const openTab = async (opened: string): Promise<Page> => {
    const page = await context.newPage();
    page.on('console', (message) => {
      const text = message.text();
      if (text.startsWith('millrace:')) said.push(text);
      if (/Content Security Policy|Trusted/.test(text)) violations.push(text);
    });
    page.on('pageerror', (error) => violations.push(String(error)));
    await page.goto(url + opened);
    return page;
  };
  return { page: await openTab(path), context, said, openTab };
}

export interface StoredPage {
  kind: string;
  timeMs: number;
  url: string;
  pathname: string;
  distinctId: string;
  sessionId: string;
  referrer: string;
  channel: string;
  strings: Record<string, string>;
  ints: Record<string, string>;
}

/**
 * What is stored of pages whose path begins so, in order of time, once it is as many. Throws where it is more. That
 * pages were left counts only where it is asked for: it depends on when a test ends.
 */
export async function storedPages(
  clickhouseUrl: string,
  start: string,
  count: number,
  withLeaves = false,
): Promise<StoredPage[]> {
  const query = `SELECT kind, toUnixTimestamp64Milli(occur_time) AS timeMs, url, pathname,
    distinct_id AS distinctId, toString(session_id) AS sessionId, referrer, channel,
    string_properties AS strings, int_properties AS ints
    FROM events WHERE startsWith(pathname, '${start}') ${withLeaves ? '' : "AND kind != 'page_leave'"} ORDER BY occur_time, event_id`;
  const read = () => rows<StoredPage>(clickhouseUrl, query);
  const found = await eventually(read, (events) => events.length >= count);
  if (found.length > count)
    throw new Error(`${found.length} events, not ${count}: ${kinds(found)}`);
  return found;
}

export const kinds = (events: readonly { kind: string }[]): string[] =>
  events.map(({ kind }) => kind).sort();
