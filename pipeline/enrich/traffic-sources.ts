// The table of search engines, social networks and video platforms, under the names that referrers and utm_source use.
// Only the table and the look-up; attribution.ts decides what follows from a kind.

import { remembered } from '../../platform/memory/remembered.ts';

export type SourceKind = 'search' | 'social' | 'video';

/** Sites under many country domains: the label before the public suffix decides (google.de, www.google.co.uk). */
const brands: Readonly<Record<SourceKind, string>> = {
  search: `aol baidu bing duckduckgo ecosia google kagi lycos mojeek naver qwant seznam sogou startpage yahoo yandex`,
  social: `badoo bluesky bsky copainsdavant facebook flickr flipboard foursquare goodreads hackernews hi5 houzz
    instagram kakaotalk linkedin livejournal mastodon myspace nextdoor odnoklassniki pinterest plurk quora reddit
    renren skyrock snapchat stackoverflow substack tiktok tumblr twitter viadeo vkontakte wechat weibo whatsapp xing
    yammer`,
  video:
    'bilibili dailymotion disneyplus hulu iqiyi netflix niconico rumble twitch vimeo youku youtube',
};

/** Hosts and bare names that are too common as labels, or whose kind is not the kind of their site. */
const hosts: Readonly<Record<SourceKind | 'none', string>> = {
  search: `ask.com ask brave search.brave.com coccoc.com news.google.com so.com 360 ya.ru rambler.ru
    com.google.android.googlequicksearchbox com.google.android.gms`,
  social: `bsky.app diigo.com discord.com discord fb fb.com fb.me ig lemmy.world line line.me lnkd.in medium.com
    meetup.com messenger news.ycombinator.com ok.ru pin.it redd.it t.co t.me telegram telegram.org threads
    threads.com threads.net vk vk.com wa.me x x.com yelp.com com.facebook.katana com.instagram.android
    com.linkedin.android com.reddit.frontpage com.twitter.android com.zhiliaoapp.musically
    org.telegram.messenger`,
  video: 'com.google.android.youtube crunchyroll.com nicovideo.jp ted.com youtu.be',
  none: `accounts.google.com calendar.google.com classroom.google.com docs.google.com drive.google.com
    mail.google.com meet.google.com play.google.com sites.google.com login.yahoo.com mail.yahoo.com mail.yandex.ru
    mail.aol.com`,
};

const maxRememberedSources = 2_000;
const kindOfBrand = tableOf(brands);
const kindOfHost = tableOf(hosts);

/** Second labels of a public suffix that has two: co.uk, com.br. */
const suffixLabels: ReadonlySet<string> = new Set([
  'ac',
  'co',
  'com',
  'edu',
  'gov',
  'ne',
  'net',
  'or',
  'org',
]);

/**
 * The kind of a source, which is a host (`www.google.co.uk`) or a bare name (`google`, `fb`), lower case;
 * undefined where it is none of the three.
 */
export const sourceKind = remembered(maxRememberedSources, findKind);

function findKind(source: string): SourceKind | undefined {
  for (let from = 0; from >= 0; from = nextLabel(source, from)) {
    const kind = kindOfHost.get(source.slice(from));
    if (kind !== undefined) return kind === 'none' ? undefined : kind;
  }
  return kindOfBrand.get(brandLabel(source));
}

/** The label that names the site: `google` of `www.google.co.uk`; a name without dots is its own label. */
function brandLabel(host: string): string {
  const labels = host.split('.');
  if (labels.length < 2) return host;
  const second = labels.at(-2) ?? '';
  const country = (labels.at(-1) ?? '').length === 2;
  return country && labels.length > 2 && suffixLabels.has(second) ? (labels.at(-3) ?? '') : second;
}

/** Where the next label of a host starts; -1 after the last but one, because a bare suffix names no site. */
function nextLabel(host: string, from: number): number {
  const dot = host.indexOf('.', from);
  return dot < 0 || host.indexOf('.', dot + 1) < 0 ? -1 : dot + 1;
}

function tableOf<Kind extends string>(lists: Readonly<Record<Kind, string>>): Map<string, Kind> {
  const table = new Map<string, Kind>();
  for (const kind in lists) {
    for (const name of lists[kind].split(/\s+/)) table.set(name, kind);
  }
  return table;
}
