// What a project's settings ask of the senders with its public keys, ready to be asked for each request. A project
// without such settings costs its requests a look-up.

import { retainedFromMs } from '../../platform/retained/retained-from.ts';
import { originTest } from '../../platform/senders/allowed-origins.ts';
import type { Exclusions } from '../../platform/senders/exclusions.ts';
import { type Refusal, refusal } from '../rpc/answer.ts';
import type { Principal } from '../rpc/authenticate.ts';
import { ExclusionRules } from './exclusion-rules.ts';

/** The part of a project's record that this reads. */
export interface SenderSettings {
  allowedOrigins?: readonly string[];
  exclusions?: Exclusions;
  retentionDays?: number;
}

interface CompiledRules {
  isAllowed: ((origin: string) => boolean) | undefined;
  exclusions: ExclusionRules | undefined;
}

const originRefused = refusal(
  'permission_denied',
  'origin',
  'origin: must be one of the allowed origins of the project, which its settings list',
);

export class SenderRules {
  readonly #settingsOf: (projectId: string) => SenderSettings | undefined;
  /** A record that changes is another object. */
  readonly #compiled = new WeakMap<SenderSettings, CompiledRules>();

  constructor(settingsOf: (projectId: string) => SenderSettings | undefined) {
    this.#settingsOf = settingsOf;
  }

  /** Refuses a public key's request from a page of another origin. `origin`: the header, which programs do not send. */
  refusalOf({ projectId, credential }: Principal, origin: string | undefined): Refusal | undefined {
    if (origin === undefined || credential === 'private') return undefined;
    const isAllowed = this.#rulesOf(projectId)?.isAllowed;
    return isAllowed === undefined || isAllowed(origin) ? undefined : originRefused;
  }

  /** What is left out of a public key's requests; undefined where nothing is. */
  exclusionsOf({ projectId, credential }: Principal): ExclusionRules | undefined {
    return credential === 'private' ? undefined : this.#rulesOf(projectId)?.exclusions;
  }

  /** The moment before which the project has no events; undefined where it keeps them for ever. */
  retainedFromMs({ projectId }: Principal, nowMs: number): number | undefined {
    return retainedFromMs(this.#settingsOf(projectId)?.retentionDays, nowMs);
  }

  #rulesOf(projectId: string): CompiledRules | undefined {
    const settings = this.#settingsOf(projectId);
    if (settings?.allowedOrigins === undefined && settings?.exclusions === undefined) {
      return undefined;
    }
    const known = this.#compiled.get(settings);
    if (known !== undefined) return known;
    const compiled = compile(settings);
    this.#compiled.set(settings, compiled);
    return compiled;
  }
}

function compile({ allowedOrigins = [], exclusions }: SenderSettings): CompiledRules {
  return {
    isAllowed: allowedOrigins.length === 0 ? undefined : originTest(allowedOrigins),
    exclusions: exclusions && new ExclusionRules(exclusions),
  };
}
