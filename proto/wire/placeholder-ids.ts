// Texts that a program writes where it has no id. Whoever names visitors so makes strangers one person, for good. The
// service and the browser's script read this file; sdk/node/client.ts has a copy, which a test holds to it.

const placeholder =
  /^["'(<{[]?(undefined|null|nil|none|nan|n\/a|not set|not_authenticated|distinct_?id|object \w+|true|false|0|[0-]{36}|anonymous|guest|unknown|)[)>"'}\]]?$/i;

/** Whether an id names nobody. */
export function isPlaceholder(id: string): boolean {
  return placeholder.test(id.trim());
}
