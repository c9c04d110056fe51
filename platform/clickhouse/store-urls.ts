// CLICKHOUSE_URL as a text: groups of servers with semicolons between them, and commas between the servers of a group,
// which hold the same tables. Reading one URL is server-url.ts's, choosing among servers replica-client.ts's.

import { parseUrl } from '../http/parse-url.ts';
import { readServerUrl } from './server-url.ts';

const name = 'CLICKHOUSE_URL';
const protocols = ['http:', 'https:', 'unix:'];
/** More copies than anybody keeps; each is asked whether it answers. */
const maxServers = 9;

/** The URLs of each group's servers, of a text that `readStoreUrls` has taken. */
export function splitGroups(text: string): string[][] {
  return text.split(';').map((group) => group.split(',').map((url) => url.trim()));
}

/** The text of the setting; adds to `problems` where it is none. No problem holds a URL, which may have a password. */
export function readStoreUrls(
  text: string | undefined,
  shards: number,
  problems: string[],
): string | undefined {
  if (text === undefined) return undefined;
  const groups = splitGroups(text);
  if (!groups.flat().every((url) => protocols.includes(parseUrl(url)?.protocol ?? ''))) {
    problems.push(`${name} must be a URL that starts with ${protocols.join('// or ')}//`);
    return undefined;
  }
  const why = whyNot(groups, shards);
  if (why === undefined) return text;
  problems.push(`${name} ${why}`);
  return undefined;
}

function whyNot(groups: readonly (readonly string[])[], shards: number): string | undefined {
  const placeOf = (url: string): string => {
    const { http, socketPath, database } = readServerUrl(url);
    return JSON.stringify([socketPath ?? http.host, database]);
  };
  const places = groups.flat().map(placeOf);
  if (new Set(places).size < places.length) return 'names a database of a server twice';
  if (groups.some((servers) => servers.length > maxServers)) {
    return `may name ${maxServers} servers of one group`;
  }
  const databasesOf = (servers: readonly string[]) =>
    new Set(servers.map((url) => readServerUrl(url).database));
  if (groups.some((servers) => databasesOf(servers).size > 1)) {
    return 'must name one database at all servers of a group';
  }
  if (groups.length <= shards) return undefined;
  return `names ${groups.length} groups, and MILLRACE_SHARDS is ${shards}: each group needs a shard`;
}
