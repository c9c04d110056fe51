// The names of well-known sites that visitors come from. A display of hosts: what is stored, filtered and exported
// stays the host.

export type SourceKind = 'search' | 'social' | 'video' | 'mail' | 'assistant' | 'site';

export type KnownSource = {
  name: string;
  kind: SourceKind;
  /** These hosts alone, besides `www.` and `m.` of them. */
  hosts?: string;
  /** These hosts and all below them. */
  sites?: string;
  /** Labels before a country's domain, besides `www.` and `m.` of them: google.de, www.google.co.uk. */
  brands?: string;
};

/** The first that fits: a search has other hosts than its brand's mail. */
export const knownSources: readonly KnownSource[] = [
  { name: 'Gmail', kind: 'mail', hosts: 'mail.google.com com.google.android.gm' },
  { name: 'Gemini', kind: 'assistant', hosts: 'gemini.google.com bard.google.com' },
  {
    ...{ name: 'Google', kind: 'search', brands: 'google images.google news.google' },
    hosts: 'com.google.android.googlequicksearchbox',
  },
  { name: 'Bing', kind: 'search', hosts: 'bing.com cn.bing.com' },
  {
    ...{ name: 'DuckDuckGo', kind: 'search', sites: 'duckduckgo.com' },
    hosts: 'com.duckduckgo.mobile.android',
  },
  { name: 'Yahoo Mail', kind: 'mail', hosts: 'mail.yahoo.com' },
  { name: 'Yahoo', kind: 'search', sites: 'search.yahoo.com', brands: 'yahoo search.yahoo' },
  { name: 'Yandex', kind: 'search', hosts: 'ya.ru', brands: 'yandex' },
  { name: 'Baidu', kind: 'search', hosts: 'baidu.com wap.baidu.com' },
  { name: 'Ecosia', kind: 'search', sites: 'ecosia.org' },
  { name: 'Brave Search', kind: 'search', hosts: 'search.brave.com' },
  { name: 'Startpage', kind: 'search', sites: 'startpage.com' },
  { name: 'Qwant', kind: 'search', sites: 'qwant.com' },
  { name: 'Kagi', kind: 'search', sites: 'kagi.com' },
  { name: 'Naver', kind: 'search', hosts: 'naver.com search.naver.com m.search.naver.com' },
  { name: 'Seznam', kind: 'search', sites: 'seznam.cz' },
  {
    ...{ name: 'Facebook', kind: 'social', sites: 'facebook.com fb.me messenger.com' },
    hosts: 'fb.com com.facebook.katana',
  },
  { name: 'Instagram', kind: 'social', sites: 'instagram.com', hosts: 'com.instagram.android' },
  {
    ...{ name: 'X', kind: 'social', sites: 'twitter.com' },
    hosts: 't.co x.com mobile.x.com com.twitter.android',
  },
  {
    ...{ name: 'LinkedIn', kind: 'social', sites: 'linkedin.com' },
    hosts: 'lnkd.in com.linkedin.android',
  },
  { name: 'Reddit', kind: 'social', sites: 'reddit.com', hosts: 'redd.it com.reddit.frontpage' },
  {
    name: 'Pinterest',
    kind: 'social',
    sites: 'pinterest.com',
    hosts: 'pin.it com.pinterest',
    brands: 'pinterest',
  },
  { name: 'TikTok', kind: 'social', sites: 'tiktok.com' },
  { name: 'Threads', kind: 'social', sites: 'threads.net threads.com' },
  { name: 'Bluesky', kind: 'social', sites: 'bsky.app' },
  { name: 'WhatsApp', kind: 'social', sites: 'whatsapp.com', hosts: 'wa.me' },
  {
    ...{ name: 'Telegram', kind: 'social', sites: 'telegram.org' },
    hosts: 't.me org.telegram.messenger',
  },
  { name: 'Snapchat', kind: 'social', sites: 'snapchat.com' },
  { name: 'Discord', kind: 'social', sites: 'discord.com discordapp.com' },
  { name: 'VK', kind: 'social', sites: 'vk.com vk.ru' },
  { name: 'Weibo', kind: 'social', sites: 'weibo.com weibo.cn' },
  { name: 'Quora', kind: 'social', sites: 'quora.com' },
  { name: 'Hacker News', kind: 'social', hosts: 'news.ycombinator.com' },
  { name: 'Product Hunt', kind: 'social', sites: 'producthunt.com' },
  { name: 'YouTube', kind: 'video', sites: 'youtube.com', hosts: 'youtu.be' },
  { name: 'Vimeo', kind: 'video', sites: 'vimeo.com' },
  { name: 'Twitch', kind: 'video', sites: 'twitch.tv' },
  {
    name: 'Outlook',
    kind: 'mail',
    hosts: 'outlook.live.com outlook.office.com outlook.office365.com',
  },
  { name: 'Proton Mail', kind: 'mail', hosts: 'mail.proton.me' },
  { name: 'ChatGPT', kind: 'assistant', sites: 'chatgpt.com', hosts: 'chat.openai.com' },
  { name: 'Claude', kind: 'assistant', sites: 'claude.ai' },
  { name: 'Perplexity', kind: 'assistant', sites: 'perplexity.ai' },
  { name: 'Copilot', kind: 'assistant', hosts: 'copilot.microsoft.com' },
  { name: 'GitHub', kind: 'site', sites: 'github.com' },
  { name: 'GitLab', kind: 'site', hosts: 'gitlab.com' },
  { name: 'Stack Overflow', kind: 'site', sites: 'stackoverflow.com' },
  { name: 'Wikipedia', kind: 'site', sites: 'wikipedia.org' },
  { name: 'Slack', kind: 'site', sites: 'slack.com' },
];
