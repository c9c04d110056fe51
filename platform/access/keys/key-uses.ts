// Notes in the project's record when an API key was last used, to the hour: so that somebody who revokes a key sees
// whether anybody still uses it. A request pays for a map look-up; records are written apart, at most once an hour for
// each key, by whichever process comes first.

import { type Clock, hourMs } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { setBounded } from '../../memory/bounded-map.ts';
import { changeRecord, type Records } from '../../records/change-record.ts';
import type { Authenticate, Authentication } from '../authenticate.ts';
import type { KeyOwner, ProjectRecord } from '../projects.ts';

const writeEveryMs = 10_000;
/** Keys whose hour is remembered; a forgotten one costs a look at its record. */
const maxSeen = 100_000;
/** Projects that wait for a write. Beyond them a use is not noted; the key's next one may be. */
const maxWaiting = 10_000;

interface KeyUsesOptions {
  projects: Records<ProjectRecord>;
  clock: Clock;
  log: Log;
}

/** Writes what is noted every ten seconds, until `close`. */
export function startKeyUses(options: KeyUsesOptions): KeyUses {
  const uses = new KeyUses(options);
  uses.start();
  return uses;
}

export class KeyUses {
  readonly #options: KeyUsesOptions;
  /** The hour in which each key was last seen here. */
  readonly #seen = new Map<string, number>();
  /** By project: the keys to note, each with its hour. */
  readonly #waiting = new Map<string, Map<string, number>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: KeyUsesOptions) {
    this.#options = options;
  }

  /** Use startKeyUses. */
  start(): void {
    const again = async (): Promise<void> => {
      await this.write();
      this.#timer?.refresh();
    };
    this.#timer = setTimeout(() => void again(), writeEveryMs);
    this.#timer.unref();
  }

  used({ projectId, keyId }: Pick<KeyOwner, 'projectId' | 'keyId'>): void {
    const nowMs = this.#options.clock.nowMs();
    const hour = nowMs - (nowMs % hourMs);
    if (this.#seen.get(keyId) === hour) return;
    const keys = this.#waiting.get(projectId) ?? new Map<string, number>();
    if (keys.size === 0 && this.#waiting.size >= maxWaiting) return;
    setBounded(this.#seen, keyId, hour, maxSeen);
    this.#waiting.set(projectId, keys.set(keyId, hour));
  }

  /** One project after the other. Never rejects: what could not be written is noted with the key's next use. */
  async write(): Promise<void> {
    for (const [projectId, keys] of [...this.#waiting]) {
      this.#waiting.delete(projectId);
      await changeRecord(this.#options.projects, projectId, (record) => {
        const next = withUses(record, keys);
        return next === record ? { leave: undefined } : { write: next, answer: undefined };
      }).catch((error: unknown) => {
        for (const keyId of keys.keys()) this.#seen.delete(keyId);
        this.#options.log.warn({ err: error, projectId }, 'the use of keys could not be noted');
      });
    }
  }

  /** The uses of the last seconds are written too. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.write();
  }
}

/** The record itself where another process has noted all of them. */
function withUses(record: ProjectRecord, uses: ReadonlyMap<string, number>): ProjectRecord {
  let isChanged = false;
  const keys = record.keys.map((key) => {
    const hour = uses.get(key.id);
    if (hour === undefined || Date.parse(key.lastUseTime ?? '') >= hour) return key;
    isChanged = true;
    return { ...key, lastUseTime: new Date(hour).toISOString() };
  });
  return isChanged ? { ...record, keys } : record;
}

/** The same check, which also notes the key of every call that it lets in. */
export function notingUses(authenticate: Authenticate, uses: Pick<KeyUses, 'used'>): Authenticate {
  const note = (authentication: Authentication): Authentication => {
    if (authentication.kind === 'ok' && authentication.principal.customer === undefined) {
      uses.used(authentication.principal);
    }
    return authentication;
  };
  return (method, credentials) => {
    const authentication = authenticate(method, credentials);
    return authentication instanceof Promise ? authentication.then(note) : note(authentication);
  };
}
