// CLICKHOUSE_URL as a text: the servers of one group, which hold the same tables, have commas between them. Reading one
// URL is server-url.ts's, choosing among the servers replica-client.ts's.

import { parseUrl } from '../http/parse-url.ts';
import { readServerUrl } from './server-url.ts';

const name = 'CLICKHOUSE_URL';
const protocols = ['http:', 'https:', 'unix:'];
/** More copies than anybody keeps; each is asked whether it answers. */
const maxServers = 9;

/** The URLs of the servers, of a text that `readStoreUrls` has taken. */
export function splitServers(text: string): string[] {
  return text.split(',').map((url) => url.trim());
}

/** The text of the setting; adds to `problems` where it is none. No problem holds a URL, which may have a password. */
export function readStoreUrls(text: string | undefined, problems: string[]): string | undefined {
  if (text === undefined) return undefined;
  const servers = splitServers(text);
  if (!servers.every((url) => protocols.includes(parseUrl(url)?.protocol ?? ''))) {
    problems.push(`${name} must be a URL that starts with ${protocols.join('// or ')}//`);
    return undefined;
  }
  const why = whyNot(servers);
  if (why === undefined) return text;
  problems.push(`${name} ${why}`);
  return undefined;
}

function whyNot(servers: readonly string[]): string | undefined {
  const read = servers.map(readServerUrl);
  const places = read.map(({ http, socketPath }) => socketPath ?? http.host);
  if (new Set(places).size < places.length) return 'names a server twice';
  if (servers.length > maxServers) return `may name ${maxServers} servers of one group`;
  const databases = new Set(read.map(({ database }) => database));
  return databases.size > 1 ? 'must name one database at all servers of a group' : undefined;
}
