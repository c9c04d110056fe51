// Which values of properties have an icon, and of which package it is. The build takes the icons that are named here
// and no others. A brand's icon stands before its name and nowhere else.

/** In the names of files; `web/marks/mark-of.ts` says which property has which group. */
export type IconGroup = 'source' | 'channel' | 'browser' | 'system' | 'device' | 'country';

export type IconRow = readonly [
  /** As they are stored, or as web/sources names them; several have a comma between them. Case makes no difference. */
  values: string,
  /** A package of `icon-packages.ts`, and the icon's name there. */
  icon: string,
  /** Behind the icon; white where it is left out. */
  ground?: string,
  /** Of an icon that has no colours of its own. */
  ink?: string,
];

const white = '#fff';
/** Seen on light cards and on dark ones. */
const neutral = '#64748b';
const paid = '#b45309';

const google: IconRow = ['Google', 'ai/google-color'];
const baidu: IconRow = ['Baidu', 'ai/baidu-color'];
const yandex: IconRow = ['Yandex', 'ai/yandex', '#fc3f1d', white];

/** Networks whose apps are browsers too. */
const networks: readonly IconRow[] = [
  ['Facebook', 'bi/facebook', white, '#0866ff'],
  ['Instagram', 'bi/instagram', '#d62976', white],
  ['LinkedIn', 'bi/linkedin', white, '#0a66c2'],
  ['Snapchat', 'tabler/brand-snapchat-filled', '#fffc00', '#000'],
  ['TikTok', 'bi/tiktok', '#000', white],
  ['Weibo', 'bi/sina-weibo', '#df2029', white],
];

/** By the names of `web/sources/known-sources.ts` and of `$aiAssistant`. */
const sources: readonly IconRow[] = [
  google,
  baidu,
  yandex,
  ...networks,
  ['Direct', 'tabler/arrow-right', neutral, white],
  ['Bing', 'ai/bing-color'],
  ['Brave Search', 'ai/brave-color'],
  ['Kagi', 'ai/kagi', '#ffb319', '#191919'],
  ['Yahoo', 'tabler/brand-yahoo', '#6001d2', white],
  ['Yahoo Mail', 'bi/envelope-fill', '#6001d2', white],
  ['Gmail', 'bi/envelope-fill', '#d93025', white],
  ['Outlook', 'bi/envelope-fill', '#0f6cbd', white],
  ['Proton Mail', 'bi/envelope-fill', '#6d4aff', white],
  ['X', 'bi/twitter-x', '#000', white],
  ['Reddit', 'bi/reddit', white, '#ff4500'],
  ['Pinterest', 'bi/pinterest', white, '#e60023'],
  ['Threads', 'bi/threads', '#000', white],
  ['Bluesky', 'bi/bluesky', white, '#1185fe'],
  ['WhatsApp', 'bi/whatsapp', '#1da851', white],
  ['Telegram', 'bi/telegram', white, '#229ed9'],
  ['Discord', 'bi/discord', '#5865f2', white],
  ['VK', 'tabler/brand-vk', '#0077ff', white],
  ['Quora', 'bi/quora', '#b92b27', white],
  ['Hacker News', 'tabler/brand-ycombinator', '#ff6600', white],
  ['Product Hunt', 'tabler/brand-producthunt', '#da552f', white],
  ['YouTube', 'bi/youtube', white, '#ff0000'],
  ['Vimeo', 'bi/vimeo', '#17a3d0', white],
  ['Twitch', 'bi/twitch', '#9146ff', white],
  ['ChatGPT', 'ai/openai', white, '#000'],
  ['Claude', 'ai/claude-color'],
  ['Copilot', 'ai/copilot-color'],
  ['DeepSeek', 'ai/deepseek-color'],
  ['Doubao', 'ai/doubao-color'],
  ['Gemini', 'ai/gemini-color'],
  ['Grok', 'ai/grok', '#000', white],
  ['Kimi', 'ai/kimi-color', '#000', white],
  ['Meta AI', 'ai/metaai-color'],
  ['Mistral', 'ai/mistral-color'],
  ['NotebookLM', 'ai/notebooklm', white, '#000'],
  ['Perplexity', 'ai/perplexity-color'],
  ['Phind', 'ai/phind', white, '#000'],
  ['Poe', 'ai/poe-color'],
  ['Qwen', 'ai/qwen-color'],
  ['GitHub', 'bi/github', white, '#1f2328'],
  ['GitLab', 'bi/gitlab', white, '#fc6d26'],
  ['Stack Overflow', 'bi/stack-overflow', white, '#f48024'],
  ['Wikipedia', 'bi/wikipedia', white, '#000'],
  ['Slack', 'bi/slack', '#4a154b', white],
];

/** All values of `$channel`. */
const channels: readonly IconRow[] = [
  ['direct', 'tabler/arrow-right', neutral, white],
  ['organic search', 'tabler/search', neutral, white],
  ['organic social', 'bi/people-fill', neutral, white],
  ['organic video', 'bi/play-fill', neutral, white],
  ['email', 'bi/envelope-fill', neutral, white],
  ['referral', 'tabler/link', neutral, white],
  ['affiliate', 'bi/tag-fill', neutral, white],
  ['unassigned', 'bi/question-lg', neutral, white],
  ['paid search', 'tabler/search', paid, white],
  ['paid social', 'bi/people-fill', paid, white],
  ['paid video', 'bi/play-fill', paid, white],
  ['paid other', 'bi/megaphone-fill', paid, white],
  ['display', 'bi/badge-ad-fill', paid, white],
];

/** By the names of ua-parser-js. */
const browsers: readonly IconRow[] = [
  baidu,
  yandex,
  ...networks,
  ['Chrome, Chrome WebView, Chrome Headless, Chromium', 'bi/browser-chrome', white, '#1a73e8'],
  ['Safari, Mobile Safari', 'bi/browser-safari', white, '#0a84ff'],
  ['Firefox, Firefox Focus, Firefox Reality', 'bi/browser-firefox', white, '#e66000'],
  ['Edge', 'bi/browser-edge', white, '#0c7bbf'],
  ['Opera, Opera Mini, Opera GX, Opera Touch', 'tabler/brand-opera-filled', white, '#ff1b2d'],
  ['Brave', 'ai/brave-color'],
  ['Vivaldi', 'tabler/brand-vivaldi', '#ef3939', white],
  ['Android Browser', 'bi/android2', white, '#1f8f4d'],
  ['Huawei Browser', 'ai/huawei-color'],
  ['GSA', 'ai/google-color'],
  ['Line', 'bi/line', white, '#06a94a'],
  ['Twitter', 'bi/twitter-x', '#000', white],
  ['WeChat', 'bi/wechat', white, '#07a150'],
];

/** By the names of ua-parser-js. */
const systems: readonly IconRow[] = [
  ['Windows, Windows Phone', 'bi/windows', '#0078d4', white],
  ['Mac OS, iOS, watchOS', 'bi/apple', white, '#1d1d1f'],
  ['Android', 'bi/android2', white, '#1f8f4d'],
  ['Chromium OS, Chromecast', 'bi/browser-chrome', white, '#1a73e8'],
  ['Linux', 'bi/tux', white, '#000'],
  ['Ubuntu', 'bi/ubuntu', white, '#e95420'],
  ['Debian', 'tabler/brand-debian', white, '#a80030'],
  ['Red Hat', 'tabler/brand-redhat', white, '#ee0000'],
  ['HarmonyOS, OpenHarmony', 'ai/huawei-color'],
  ['BlackBerry', 'tabler/brand-blackberry', '#000', white],
  ['PlayStation', 'bi/playstation', '#0070d1', white],
  ['Xbox', 'bi/xbox', white, '#107c10'],
  ['Nintendo', 'bi/nintendo-switch', white, '#e60012'],
];

/** All values of `$deviceType`. */
const devices: readonly IconRow[] = [
  ['desktop', 'bi/display-fill', neutral, white],
  ['mobile', 'bi/phone-fill', neutral, white],
  ['tablet', 'bi/tablet-fill', neutral, white],
  ['console', 'bi/controller', neutral, white],
  ['smarttv', 'bi/tv-fill', neutral, white],
  ['wearable', 'bi/smartwatch', neutral, white],
  ['embedded', 'bi/cpu-fill', neutral, white],
  ['xr', 'bi/headset-vr', neutral, white],
];

/** ISO 3166-1 alpha-2, and Kosovo's, which databases of places have too. */
const countryCodes = `
  AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD
  CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF
  GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN
  KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA
  NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI
  SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI
  VN VU WF WS XK YE YT ZA ZM ZW`
  .trim()
  .split(/\s+/);

export const iconTable: Readonly<Record<IconGroup, readonly IconRow[]>> = {
  source: sources,
  channel: channels,
  browser: browsers,
  system: systems,
  device: devices,
  country: countryCodes.map((code) => [code, `flags/${code.toLowerCase()}`]),
};
