// The table of search engines, social networks and video platforms, under the names that referrers and utm_source use.
// Only the table and the look-up; attribution.ts decides what follows from a kind.

import { remembered } from '../../platform/memory/remembered.ts';

export type SourceKind = 'search' | 'social' | 'video';

/** Bare names of search engines, as utm_source has them. */
const searchNames =
  namesOf(`360 aol ask baidu bing brave duckduckgo ecosia google kagi lycos mojeek naver qwant seznam
  sogou startpage yahoo yandex`);

/**
 * The hosts of result pages, besides `www.` and `m.` of them. A brand's other hosts are no searches: mail, documents
 * and advertisers' tools refer as every site does.
 */
const searchHosts =
  namesOf(`aol.com search.aol.com ask.com baidu.com wap.baidu.com bing.com cn.bing.com search.brave.com
  coccoc.com dogpile.com duckduckgo.com html.duckduckgo.com lite.duckduckgo.com noai.duckduckgo.com safe.duckduckgo.com
  start.duckduckgo.com ecosia.org kagi.com lycos.com search.lycos.com metager.de metager.org mojeek.com naver.com
  go.mail.ru search.daum.net m.search.daum.net search.goo.ne.jp m.sm.cn suche.gmx.net suche.web.de
  search.naver.com m.search.naver.com petalsearch.com presearch.com qwant.com lite.qwant.com rambler.ru nova.rambler.ru
  seznam.cz search.seznam.cz so.com sogou.com wap.sogou.com startpage.com swisscows.com ya.ru`);

/** Engines under many country domains, with the hosts of each that are searches, besides `www.` and `m.`. */
const searchesByCountry: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['google', namesOf('encrypted images news')],
  ['yahoo', namesOf('images.search news.search r.search search video.search')],
  ['yandex', namesOf('images search')],
]);

/** Sites under many country domains: the label before the public suffix decides (twitter.com, www.xing.de). */
const brands: Readonly<Record<'social' | 'video', string>> = {
  social: `badoo bluesky bsky copainsdavant facebook flickr flipboard foursquare goodreads hackernews hi5 houzz
    instagram kakaotalk linkedin livejournal mastodon myspace nextdoor odnoklassniki pinterest plurk quora reddit
    renren skyrock snapchat stackoverflow substack tiktok tumblr twitter viadeo vkontakte wechat weibo whatsapp xing
    yammer`,
  video:
    'bilibili dailymotion disneyplus hulu iqiyi netflix niconico rumble twitch vimeo youku youtube',
};

/** Hosts and bare names that are too common as labels. */
const hosts: Readonly<Record<'social' | 'video', string>> = {
  social: `bsky.app diigo.com discord.com discord fb fb.com fb.me ig lemmy.world line line.me lnkd.in medium.com
    meetup.com messenger news.ycombinator.com ok.ru pin.it redd.it t.co t.me telegram telegram.org threads
    threads.com threads.net vk vk.com wa.me x x.com yelp.com`,
  video: 'crunchyroll.com nicovideo.jp ted.com youtu.be',
};

/** The first label of a network's host for advertisers, authors and developers: nobody came from a post there. */
const workplaces =
  namesOf(`about ads adsmanager advertising analytics business campaign careers creator creators
  developer developers help studio support`);

/** Apps for Android whose names, read backwards, are not those of their sites. */
const sitesOfApps: ReadonlyMap<string, string> = new Map([
  ['com.anthropic.claude', 'claude.ai'],
  ['com.duckduckgo.mobile.android', 'duckduckgo.com'],
  ['com.ecosia.android', 'ecosia.org'],
  ['com.google.android.apps.bard', 'gemini.google.com'],
  ['com.google.android.apps.searchlite', 'google.com'],
  ['com.google.android.gms', 'google.com'],
  ['com.google.android.googlequicksearchbox', 'google.com'],
  ['com.google.android.youtube', 'youtube.com'],
  ['com.microsoft.bing', 'bing.com'],
  ['com.microsoft.copilot', 'copilot.microsoft.com'],
  ['com.nhn.android.search', 'search.naver.com'],
  ['com.openai.chatgpt', 'chatgpt.com'],
  ['com.sina.weibo', 'weibo.com'],
  ['com.ss.android.ugc.trill', 'tiktok.com'],
  ['com.tencent.mm', 'wechat.com'],
  ['com.yandex.searchapp', 'yandex.com'],
  ['com.zhiliaoapp.musically', 'tiktok.com'],
  ['jp.naver.line.android', 'line.me'],
  ['ru.yandex.searchplugin', 'yandex.ru'],
]);

const maxRememberedSources = 2_000;
const kindOfBrand = tableOf(brands);
const kindOfHost = tableOf(hosts);

/** Second labels of a public suffix that has two: co.uk, com.br. */
const suffixLabels = namesOf('ac co com edu gov ne net or org');

/**
 * The kind of a source, which is a host (`www.google.co.uk`) or a bare name (`google`, `fb`), lower case;
 * undefined where it is none of the three.
 */
export const sourceKind = remembered(maxRememberedSources, findKind);

/** The host of the site whose app has this name, which begins with the site's end: `com.pinterest`. */
export function siteOfApp(name: string): string {
  for (let end = name.length; end > 0; end = name.lastIndexOf('.', end - 1)) {
    const site = sitesOfApps.get(name.slice(0, end));
    if (site !== undefined) return site;
  }
  return name.split('.').reverse().join('.');
}

/** The value of a host's entry, or of the nearest host above it that has one. */
export function ofHost<T>(table: ReadonlyMap<string, T>, host: string): T | undefined {
  for (let from = 0; from >= 0; from = nextLabel(host, from)) {
    const found = table.get(host.slice(from));
    if (found !== undefined) return found;
  }
  return undefined;
}

function findKind(source: string): SourceKind | undefined {
  if (isSearch(source)) return 'search';
  const labels = source.split('.');
  if (labels.length > 2 && workplaces.has(labels[0] ?? '')) return undefined;
  return ofHost(kindOfHost, source) ?? kindOfBrand.get(labels.at(-suffixLength(labels) - 1) ?? '');
}

function isSearch(source: string): boolean {
  const host = source.replace(/^(?:www|m)\./, '');
  if (searchNames.has(source) || searchHosts.has(source) || searchHosts.has(host)) return true;
  const labels = host.split('.');
  const end = labels.length - suffixLength(labels);
  const isCountry = labels.at(-1) === 'com' || labels.at(-1)?.length === 2;
  if (!isCountry || end === labels.length) return false;
  const subdomain = labels.slice(0, end - 1).join('.');
  const searches = searchesByCountry.get(labels[end - 1] ?? '');
  if (searches === undefined) return false;
  // Yahoo has a host for each country below `search`: uk.search.yahoo.com.
  return subdomain === '' || searches.has(subdomain.replace(/^[a-z]{2}\.(?=search$)/, ''));
}

/** How many labels the public suffix has; a name without dots has none. */
function suffixLength(labels: readonly string[]): number {
  if (labels.length < 2) return 0;
  const hasTwo =
    labels.length > 2 && labels.at(-1)?.length === 2 && suffixLabels.has(labels.at(-2) ?? '');
  return hasTwo ? 2 : 1;
}

/** Where the next label of a host starts; -1 after the last but one, because a bare suffix names no site. */
function nextLabel(host: string, from: number): number {
  const dot = host.indexOf('.', from);
  return dot < 0 || host.indexOf('.', dot + 1) < 0 ? -1 : dot + 1;
}

function namesOf(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/));
}

function tableOf<Kind extends string>(lists: Readonly<Record<Kind, string>>): Map<string, Kind> {
  const table = new Map<string, Kind>();
  for (const kind in lists) for (const name of namesOf(lists[kind])) table.set(name, kind);
  return table;
}
