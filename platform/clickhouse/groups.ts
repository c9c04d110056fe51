// The groups of ClickHouse servers that rows are spread over: those of a shard, and so of its projects, all lie in one
// group, whose place is the shard's number modulo the number of groups.

import { shardOf } from '../broker/topology.ts';

/** One value for each group: its client, or what is made of it. */
export class Groups<T> {
  /** In the order of the setting, which never changes. */
  readonly all: readonly T[];
  readonly #shards: number;

  constructor(all: readonly T[], shards: number) {
    if (all.length === 0 || all.length > shards) {
      throw new RangeError(`${all.length} groups for ${shards} shards`);
    }
    this.all = all;
    this.#shards = shards;
  }

  /** Has also what belongs to no project: the log of webhooks. */
  get first(): T {
    return this.ofShard(0);
  }

  ofShard(shard: number): T {
    const found = this.all[shard % this.all.length];
    if (found === undefined) throw new RangeError(`${shard} is no shard`);
    return found;
  }

  ofProject(projectId: string): T {
    return this.ofShard(shardOf(projectId, this.#shards));
  }

  /** The place of a project's group in `all`. */
  placeOf(projectId: string): number {
    return shardOf(projectId, this.#shards) % this.all.length;
  }

  /** The shards of the group at this place. */
  shardsAt(place: number): number[] {
    const shards = Array.from({ length: this.#shards }, (_, shard) => shard);
    return shards.filter((shard) => shard % this.all.length === place);
  }

  map<U>(make: (one: T) => U): Groups<U> {
    return new Groups(this.all.map(make), this.#shards);
  }
}

/** Where all projects are in one place. */
export function oneGroup<T>(only: T): Groups<T> {
  return new Groups([only], 1);
}
