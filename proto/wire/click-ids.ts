// The parameters in which advertisers put the id of a click on a paid link. The browser's script sends them, and the
// rules of $channel read them: one list for both. fbclid is not among them: Facebook puts it on every outgoing link.

export const clickIds = [
  'gclid',
  'gbraid',
  'wbraid',
  'msclkid',
  'yclid',
  'dclid',
  'ttclid',
  'twclid',
  'li_fat_id',
  'rdt_cid',
  'ScCid',
] as const;

export type ClickId = (typeof clickIds)[number];
