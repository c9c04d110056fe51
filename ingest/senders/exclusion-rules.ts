// Judges requests and events by what their project excludes. The address is compared here and held nowhere.

import { type BlockList, isIP } from 'node:net';
import { networks } from '../../platform/private-networks.ts';
import type { Exclusions } from '../../platform/senders/exclusions.ts';

/** Why events are left out; answers and IngestHealth count by these names. */
export type ExclusionRule =
  | 'excluded_network'
  | 'excluded_country'
  | 'excluded_user_agent'
  | 'excluded_path'
  /** Older than the project keeps its events, whatever the credential. */
  | 'excluded_age';

/** The part of a caller that is judged. */
interface JudgedCaller {
  userAgent?: string;
  location?: { country?: string };
}

export class ExclusionRules {
  readonly #networks: BlockList | undefined;
  readonly #countries: ReadonlySet<string>;
  readonly #userAgents: readonly string[];
  readonly #paths: readonly ((path: string) => boolean)[];

  constructor(exclusions: Exclusions) {
    this.#networks = exclusions.networks.length === 0 ? undefined : networks(exclusions.networks);
    this.#countries = new Set(exclusions.countries);
    this.#userAgents = exclusions.userAgents.map((text) => text.toLowerCase());
    this.#paths = exclusions.paths.map(pathTest);
  }

  /** The rule by which all events of a request are left out. `addressOf` is asked only where a network is excluded. */
  ofRequest(
    { userAgent, location }: JudgedCaller,
    addressOf: () => string | undefined,
  ): ExclusionRule | undefined {
    if (this.#networks !== undefined && isIn(this.#networks, addressOf()))
      return 'excluded_network';
    if (this.#countries.has(location?.country ?? '')) return 'excluded_country';
    if (this.#userAgents.length === 0 || userAgent === undefined) return undefined;
    const agent = userAgent.toLowerCase();
    return this.#userAgents.some((text) => agent.includes(text))
      ? 'excluded_user_agent'
      : undefined;
  }

  get judgesPaths(): boolean {
    return this.#paths.length > 0;
  }

  isPathExcluded(path: string): boolean {
    return this.#paths.some((test) => test(path));
  }
}

function isIn(list: BlockList, address: string | undefined): boolean {
  return address !== undefined && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** Each piece between stars is looked for once, behind the one before: the work grows with the path's length alone. */
function pathTest(pattern: string): (path: string) => boolean {
  const [start = '', ...pieces] = pattern.split('*');
  const end = pieces.pop();
  if (end === undefined) return (path) => path === pattern;
  return (path) => {
    if (!path.startsWith(start)) return false;
    let from = start.length;
    for (const piece of pieces) {
      const at = path.indexOf(piece, from);
      if (at < 0) return false;
      from = at + piece.length;
    }
    return path.length - end.length >= from && path.endsWith(end);
  };
}
