// The browser's client: what a page calls, and what is noticed of the page by itself. It sends to BatchCreate and
// Identify, without a preflight, and stores nothing on the device before the visitor has agreed.

import { clickIds } from '../../proto/wire/click-ids.ts';
import { isPlaceholder } from '../../proto/wire/placeholder-ids.ts';
import { idleMs, read, reset, target, visitor, write } from './device.ts';
import { beacon, keep, push, say } from './queue.ts';
import { cleanUrl, type Properties, pattern, typedProperties, uuid } from './value.ts';

export type Consent = 'granted' | 'cookieless' | 'denied';

/** The attributes of the script's element; docs/snippet.md explains them. */
export interface Options {
  key?: string | undefined;
  host: string;
  path?: string | undefined;
  consent?: string | undefined;
  remember?: string | undefined;
  auto?: string | undefined;
  exclude?: string | undefined;
  query?: string | undefined;
  spa?: string | undefined;
  hash?: string | undefined;
}

/** An event before it is sent. */
export interface Draft {
  kind: string;
  properties: Properties;
}

declare global {
  interface Navigator {
    globalPrivacyControl?: boolean;
  }
  interface Document {
    prerendering?: boolean;
  }
}

/** A page that is visible counts as looked at for so long after its visitor scrolled, pressed or typed. */
const activeMs = 30_000;

const downloads = /\.(7z|csv|dmg|docx?|exe|gz|mp[34]|pdf|pptx?|rar|xlsx?|zip)$/i;

let options: Options;
let state: Consent = 'denied';
let excluded: RegExp;
let keptParameters: RegExp;
let noticed: RegExp;
let edit: ((event: Draft) => unknown) | undefined;
let current: string | undefined;
let referrer: string | undefined;
/** Whether the current page's view was sent, and not yet that it was left. */
let isOpen: boolean | undefined;
/** When the last event was sent, when the visitor did something last, and how long they had looked until then. */
let sentMs = 0;
let activeAtMs = 0;
let engagedMs = 0;
/** The lowest line of the page that was seen, in pixels. */
let lowest = 0;

/** Undefined for a path of this site that is excluded. */
function clean(href: string): string | undefined {
  const url = new URL(href);
  const { host, pathname } = url;
  const isOwn = host === location.host;
  // A route: what follows may be anything, also a secret.
  const [route = ''] = isOwn && 'hash' in options ? url.hash.split(/[?&=]/) : [];
  url.hash = route;
  return isOwn && (excluded.test(pathname) || excluded.test(pathname + route))
    ? undefined
    : cleanUrl(url, keptParameters, state === 'granted');
}

/** The visitor, where they may be known. */
const consented = () => (state === 'granted' ? visitor() : undefined);

/** Sends an event, unless the visitor declined or the page is excluded; true where it is on its way. */
export function track(
  kind: string,
  properties?: Properties,
  href = location.href,
): boolean | undefined {
  const $url = clean(href);
  if (state === 'denied' || !$url) return;
  const $referrer = referrer && clean(referrer);
  const { pathname, hash } = new URL($url);
  const $pathname = hash ? pathname + hash : undefined;
  const event: Draft = { kind, properties: { $url, $pathname, $referrer, ...properties } };
  if (edit?.(event) === false) return;
  const { a, u = a, s } = consented() ?? {};
  push('', {
    eventId: uuid(),
    kind: event.kind,
    occurTime: new Date(),
    cookieless: !u,
    distinctId: u,
    sessionId: s,
    ...typedProperties(event.properties),
  });
  sentMs = Date.now();
  return true;
}

/** Sends a page view of the present address. */
export function page(): void {
  leave();
  current = clean(location.href);
  engagedMs = lowest = 0;
  seen();
  const isSent = track('page_view', {
    $title: document.title,
    $language: navigator.language,
    $viewport: innerWidth < 640 ? 'small' : innerWidth < 1024 ? 'medium' : 'large',
  });
  isOpen = isSent && noticed.test('leave');
}

/** Names the visitor by a text or a number; what they did before belongs to them too. */
export function identify(externalId: unknown, traits?: Properties): void {
  const known = consented();
  const userId = `${externalId}`;
  const isId = !(externalId instanceof Object || isPlaceholder(userId));
  if (!known || !isId) {
    say(`identify needs ${known ? `an id, not ${userId}` : 'consent'}`);
    return;
  }
  const { a, u } = known;
  if (u !== userId || traits) push('/i', { externalId: userId, traits, anonymousId: u ? '' : a });
  visitor(userId);
}

/** Takes the visitor's decision; says what holds now. */
export function consent(next?: Consent): Consent {
  if (next) {
    const was = state;
    decide(next);
    if (state !== 'granted') {
      reset();
      write('q', 0);
    }
    write('c', (next === 'denied' || 'remember' in options) && next);
    if (was === 'denied' && noticed.test('pages')) page();
  }
  return state;
}

/** `change` sees each event first, may change it, and keeps it back by returning false. */
export function before(change: (event: Draft) => unknown): void {
  edit = change;
}

function decide(wanted: unknown): void {
  state =
    wanted === 'denied' || (wanted === 'granted' && !navigator.globalPrivacyControl)
      ? wanted
      : 'cookieless';
  keep(state === 'granted', state === 'denied');
}

/** From now on the visitor looks at the page, if anybody does. */
function seen(): void {
  activeAtMs = document.hidden ? Number.POSITIVE_INFINITY : Date.now();
}

function active(): void {
  engagedMs += Math.max(0, Math.min(Date.now() - activeAtMs, activeMs));
  lowest = Math.max(lowest, scrollY + innerHeight);
  seen();
}

/** Sends, once, how the current page was looked at. Not so late that it would begin a visit. */
function leave(): void {
  active();
  if (isOpen && Date.now() - sentMs < idleMs) {
    const scroll = (100 * lowest) / document.documentElement.scrollHeight;
    const properties = { engaged_ms: engagedMs, scroll: Math.round(Math.min(scroll, 100)) };
    track('page_leave', properties, current);
  }
  isOpen = false;
}

function hidden({ type }: Event): void {
  if (document.hidden || type === 'pagehide') leave();
  else seen();
  beacon();
}

function moved(): void {
  const from = current;
  if (clean(location.href) === from) return;
  leave();
  referrer = from;
  page();
}

function clicked(event: MouseEvent): void {
  // Inside a shadow too; a document, which has no such method, is clicked by programs alone.
  const target = event.composedPath()[0] as Element;
  if (!target.closest || event.button > 1) return;
  const marked = target.closest<HTMLElement>('[data-event]');
  if (marked) {
    const properties: Properties = {};
    for (const { name, value } of marked.attributes) {
      const [, property] = name.split('data-event-');
      if (property) properties[property] = value;
    }
    track(marked.dataset['event'] ?? '', properties);
  }
  const link = target.closest<HTMLAnchorElement>('a[href]');
  // Addresses of mail and scripts have no host.
  if (!link?.host) return;
  const url = clean(link.href);
  if (!url) return;
  if (link.closest('[download]') || downloads.test(link.pathname)) {
    if (noticed.test('downloads')) track('file_downloaded', { url });
  } else if (link.host !== location.host && noticed.test('outbound')) {
    track('outbound_click', { url });
  }
}

function notice(): void {
  addEventListener('click', clicked, true);
  addEventListener('auxclick', clicked, true);
  for (const name of ['scroll', 'keydown', 'pointerdown']) addEventListener(name, active, true);
  // Also when the page is seen again: what was noticed while it was hidden is then sent at once.
  addEventListener('visibilitychange', hidden);
  addEventListener('pagehide', hidden);
  if (!noticed.test('pages')) return;
  page();
  // A page that comes back out of the browser's memory is seen again.
  addEventListener('pageshow', (event) => event.persisted && page());
  if (options.spa === 'off') return;
  // Browsers have it since 2022 to 2026. It hears of each change of the address, whoever makes it.
  if ('navigation' in window) navigation.addEventListener('currententrychange', moved);
  else {
    addEventListener('popstate', moved);
    for (const name of ['pushState', 'replaceState'] as const) {
      const own = history[name];
      history[name] = (...state) => {
        own.apply(history, state);
        moved();
      };
    }
  }
}

/** Begins, once. */
export function start(given: Options): void {
  options = given;
  excluded = pattern(given.exclude ?? '');
  keptParameters = pattern(`utm_*,${clickIds},${given.query ?? ''}`);
  noticed = pattern(given.auto ?? '*');
  referrer = document.referrer || undefined;
  target.key = given.key ?? '';
  target.url = given.host + (given.path ?? '/m');
  // Without a key nothing is sent, and calls do no harm.
  if (!given.key) say('no data-key');
  decide(given.key ? (read('c') ?? given.consent) : 'denied');
  // A page that is only prepared may never be looked at.
  if (document.prerendering) addEventListener('prerenderingchange', notice, true);
  else notice();
}
