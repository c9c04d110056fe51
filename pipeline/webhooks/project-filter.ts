// What webhooks subscribe to of one project's events, by kind and by properties. The writer's thread writes it as JSON
// into shared memory once for each change, so that a verdict hands over thousands of subscriptions at the price of one;
// a builder's thread reads it when it first meets it, and judges events by it.

import { propertyKey } from '../../platform/filters/filter-rules.ts';
import { type FilteredValue, valueTest } from '../../platform/filters/value-test.ts';
import {
  type PropertyFilterRecord,
  propertyFilterOf,
} from '../../platform/webhooks/property-filter-record.ts';
import type { ProjectSubscription } from '../../platform/webhooks/webhook-record.ts';

export interface ProjectFilter {
  /** Of this process: whoever has read it need not read it again. */
  id: number;
  /** Of `Entry[]`. */
  json: Uint8Array<SharedArrayBuffer>;
}

interface Entry {
  webhookId: string;
  kinds?: readonly string[];
  properties?: readonly PropertyFilterRecord[];
}

export type PropertyOf = (property: string) => FilteredValue | undefined;

/** A subscription to a kind, without its kinds. */
interface Candidate {
  webhookId: string;
  meets(propertyOf: PropertyOf): boolean;
}

/** Of the JSON that a builder's thread remembers what it read of; an organization's is a MiB at most. */
const maxReadBytes = 8 * 1_048_576;
/** What a filter takes beside its JSON. */
const overheadBytes = 1_024;
let made = 0;

export function makeProjectFilter(
  subscriptions: readonly { webhookId: string; subscription: ProjectSubscription }[],
): ProjectFilter {
  const entries = subscriptions.map(
    ({ webhookId, subscription: { kinds, properties } }): Entry => ({
      webhookId,
      ...(kinds !== undefined && { kinds }),
      ...(properties !== undefined && { properties }),
    }),
  );
  const bytes = Buffer.from(JSON.stringify(entries));
  const json = new Uint8Array(new SharedArrayBuffer(bytes.length));
  json.set(bytes);
  return { id: ++made, json };
}

/** The filters that one builder's thread has read; the oldest make room. */
export class ProjectFilters {
  readonly #read = new Map<number, { subscriptions: ProjectSubscriptions; bytes: number }>();
  #bytes = 0;

  get size(): number {
    return this.#read.size;
  }

  read({ id, json }: ProjectFilter): ProjectSubscriptions {
    const known = this.#read.get(id);
    if (known !== undefined) return known.subscriptions;
    const entries: Entry[] = JSON.parse(Buffer.from(json).toString());
    const subscriptions = new ProjectSubscriptions(entries);
    const bytes = json.length + overheadBytes;
    this.#bytes += bytes;
    for (const [oldest, { bytes: freed }] of this.#read) {
      if (this.#bytes <= maxReadBytes) break;
      this.#read.delete(oldest);
      this.#bytes -= freed;
    }
    this.#read.set(id, { subscriptions, bytes });
    return subscriptions;
  }
}

export class ProjectSubscriptions {
  readonly #byKind = new Map<string, Candidate[]>();
  readonly #toEveryKind: Candidate[] = [];

  constructor(entries: readonly Entry[]) {
    for (const { webhookId, kinds, properties = [] } of entries) {
      const candidate = { webhookId, meets: testOf(properties) };
      if (kinds === undefined) this.#toEveryKind.push(candidate);
      for (const kind of new Set(kinds)) {
        const others = this.#byKind.get(kind) ?? [];
        others.push(candidate);
        this.#byKind.set(kind, others);
      }
    }
  }

  /** Whoever may want an event of the kind. */
  candidates(kind: string): readonly Candidate[] {
    const own = this.#byKind.get(kind);
    if (own === undefined || this.#toEveryKind.length === 0) return own ?? this.#toEveryKind;
    return [...own, ...this.#toEveryKind];
  }
}

/** The ids of the webhooks that want an event with these properties, each once. */
export function webhooksWanting(
  candidates: readonly Candidate[],
  propertyOf: PropertyOf,
): string[] {
  const wanting = new Set<string>();
  for (const { webhookId, meets } of candidates) {
    if (!wanting.has(webhookId) && meets(propertyOf)) wanting.add(webhookId);
  }
  return [...wanting];
}

/** The management interface has checked the filters; a newer version's, which this one cannot read, match nothing. */
function testOf(properties: readonly PropertyFilterRecord[]): Candidate['meets'] {
  try {
    const tests = properties.map((record) => {
      const filter = propertyFilterOf(record);
      return { key: propertyKey(filter, 'filter'), meets: valueTest(filter, 'filter') };
    });
    return (propertyOf) => tests.every(({ key, meets }) => meets(propertyOf(key)));
  } catch {
    return () => false;
  }
}
