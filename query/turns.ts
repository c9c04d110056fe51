// Turns at the engine. The dear reads of one owner leave turns and cores to others, and all reads leave connections of
// the engine to inserts and the pipeline, which take no turn. An owner is whoever made a project's organization; the
// owner's projects take turns among themselves. The time limit of a statement is read-rows.ts's.

import { Code, ConnectError } from '@connectrpc/connect';
import type { RowReader } from '../platform/clickhouse/select-rows.ts';
import { engineTimeOf } from './calls/engine-time.ts';
import { firstPriority, RecentUse } from './calls/recent-use.ts';
import { type HeavyBounds, heavyBounds, type TurnBounds } from './calls/turn-bounds.ts';
import type { Timer } from './timer.ts';

/** A `search` may look at every row of a project, a `look-up` at those of one profile. */
export type StatementKind = 'search' | 'look-up';

interface TurnOwners {
  /** Of a project's turns; each project has its own unless given. */
  ownerOf?: (projectId: string) => string;
  /** Shared by all turns at one engine. */
  use?: RecentUse;
}

interface Waiter {
  start(): void;
  refuse(error: ConnectError): void;
}

type Waiting = Readonly<Record<StatementKind, Set<Waiter>>>;

/** Of one owner; forgotten when nothing of it runs or waits. */
interface Lane {
  owner: string;
  running: number;
  searches: number;
  waiting: number;
  /** By project, in the order in which the projects get the lane's next turns. None is without a waiter. */
  projects: Map<string, Waiting>;
}

/** A statement's place. */
interface Place {
  lane: Lane;
  projectId: string;
  kind: StatementKind;
}

export class Turns {
  readonly #bounds: TurnBounds;
  readonly #heavy: HeavyBounds;
  readonly #timer: Timer;
  readonly #ownerOf: (projectId: string) => string;
  readonly #use: RecentUse;
  /** By owner, in the order in which owners alike get their next turns. */
  readonly #lanes = new Map<string, Lane>();
  #running = 0;
  #searches = 0;
  #waiting = 0;

  constructor(bounds: TurnBounds, timer: Timer, { ownerOf, use }: TurnOwners = {}) {
    this.#bounds = bounds;
    this.#heavy = heavyBounds(bounds);
    this.#timer = timer;
    this.#ownerOf = ownerOf ?? ((projectId) => projectId);
    this.#use = use ?? new RecentUse();
  }

  /**
   * A reader whose statements take turns of the project; they throw resource_exhausted instead of waiting too long.
   * `spend` is told the milliseconds that each was at the engine, however it ended.
   */
  reader(
    clickhouse: RowReader,
    projectId: string,
    kind: StatementKind,
    spend: (engineMs: number) => void = () => {},
  ): RowReader {
    return {
      select: async (select, onRow) => {
        const place = await this.#take(projectId, kind, select.signal);
        const settings = { ...select.settings, ...this.#settingsOf(place) };
        const ended = this.#use.begin(place.lane.owner);
        const left = engineTimeOf(select.signal).begin();
        let isLeft = false;
        try {
          await clickhouse.select({ ...select, settings }, (text) => {
            const goesOn = onRow(text);
            isLeft = !goesOn;
            return goesOn;
          });
        } finally {
          left();
          const engineMs = ended();
          const give = (): void => this.#give(place);
          if (isLeft || select.signal.aborted) this.#timer(this.#bounds.lingerMs, give);
          else give();
          // Whoever leaves pays for the time until the engine has ended, too.
          spend(select.signal.aborted ? engineMs + this.#bounds.lingerMs : engineMs);
        }
      },
    };
  }

  /** Throws resource_exhausted where no statement of the project may wait: for work that comes before the statement. */
  checkRoom(projectId: string): void {
    const lane = this.#lanes.get(this.#ownerOf(projectId));
    if (lane && lane.waiting >= this.#bounds.waitingOfOwner) throw this.#busy('owner');
  }

  #settingsOf({ lane: { owner }, kind }: Place): Readonly<Record<string, number>> {
    const isHeavy = this.#use.isHeavyBesideOthers(owner);
    const { threads } = this.#bounds;
    // One thread is the engine's own choice, and leaves others a core where it is the only one.
    const isSmall = kind === 'look-up' || threads === 1;
    const priority = isSmall && !isHeavy ? firstPriority : this.#use.priorityOf(owner);
    if (isSmall) return { priority };
    return isHeavy
      ? { priority, max_threads: this.#heavy.threads, max_block_size: this.#heavy.blockRows }
      : { priority, max_threads: threads };
  }

  async #take(projectId: string, kind: StatementKind, signal: AbortSignal): Promise<Place> {
    // Nobody would call off its wait.
    signal.throwIfAborted();
    const owner = this.#ownerOf(projectId);
    const lane = this.#lanes.get(owner) ?? newLane(owner);
    const place = { lane, projectId, kind };
    const isFirst = [...lane.projects.values()].every((waiting) => waiting[kind].size === 0);
    if (isFirst && this.#hasRoom(lane, kind)) {
      this.#lanes.set(owner, lane);
      this.#begin(place);
      return place;
    }
    this.checkRoom(projectId);
    this.#makeRoom(lane);
    this.#lanes.set(owner, lane);
    await this.#wait(place, signal);
    return place;
  }

  #wait(place: Place, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#leave(place, waiter);
        calledOff();
        signal.removeEventListener('abort', gone);
      };
      const refuse = (error: unknown): void => {
        end();
        this.#forgetIfIdle(place.lane);
        reject(error);
      };
      const gone = (): void => refuse(signal.reason);
      const waiter: Waiter = {
        start: () => {
          end();
          this.#begin(place);
          resolve();
        },
        refuse,
      };
      this.#join(place, waiter);
      const calledOff = this.#timer(this.#bounds.waitMs, () => {
        refuse(this.#busy(this.#isAtOwnBound(place) ? 'owner' : 'all'));
      });
      signal.addEventListener('abort', gone);
    });
  }

  /** Where all places are taken, the owner with the most gives one up to another. */
  #makeRoom(own: Lane): void {
    if (this.#waiting < this.#bounds.waiting) return;
    let longest = own;
    // Of several, the one whose turn is farthest.
    for (const lane of this.#lanes.values()) if (lane.waiting >= longest.waiting) longest = lane;
    const last = [...longest.projects.values()].at(-1);
    const waiter = [...(last?.search ?? []), ...(last?.['look-up'] ?? [])].at(-1);
    // One that would be the longest then has no better right to the place.
    if (waiter === undefined || longest.waiting <= own.waiting + 1) throw this.#busy('all');
    waiter.refuse(this.#busy('owner'));
  }

  #join({ lane, projectId, kind }: Place, waiter: Waiter): void {
    const waiting = lane.projects.get(projectId) ?? { 'look-up': new Set(), search: new Set() };
    lane.projects.set(projectId, waiting);
    waiting[kind].add(waiter);
    lane.waiting++;
    this.#waiting++;
  }

  #leave({ lane, projectId, kind }: Place, waiter: Waiter): void {
    const waiting = lane.projects.get(projectId);
    if (waiting?.[kind].delete(waiter) !== true) return;
    if (waiting.search.size + waiting['look-up'].size === 0) lane.projects.delete(projectId);
    lane.waiting--;
    this.#waiting--;
  }

  #begin({ lane, kind }: Place): void {
    lane.running++;
    this.#running++;
    if (kind === 'look-up') return;
    lane.searches++;
    this.#searches++;
  }

  #give({ lane, kind }: Place): void {
    lane.running--;
    this.#running--;
    if (kind === 'search') {
      lane.searches--;
      this.#searches--;
    }
    this.#forgetIfIdle(lane);
    this.#startNext();
  }

  /** Owners of short statements come first; of those alike, each that waits has a turn before any has a second. */
  #startNext(): void {
    const lanes = [...this.#lanes.values()]
      .filter(({ waiting }) => waiting > 0)
      .map((lane) => ({ lane, priority: this.#use.priorityOf(lane.owner) }))
      .sort((one, other) => one.priority - other.priority);
    for (const { lane } of lanes) {
      if (this.#running >= this.#bounds.running) return;
      const next = this.#nextOf(lane);
      if (next === undefined) continue;
      next.waiter.start();
      moveLast(this.#lanes, lane.owner);
      moveLast(lane.projects, next.projectId);
    }
  }

  #nextOf(lane: Lane): { projectId: string; waiter: Waiter } | undefined {
    for (const kind of ['look-up', 'search'] as const) {
      if (!this.#hasRoom(lane, kind)) continue;
      for (const [projectId, waiting] of lane.projects) {
        const [waiter] = waiting[kind];
        if (waiter !== undefined) return { projectId, waiter };
      }
    }
    return undefined;
  }

  #hasRoom(lane: Lane, kind: StatementKind): boolean {
    const { running, searches } = this.#bounds;
    if (this.#running >= running || this.#isAtOwnBound({ lane, kind })) return false;
    if (kind === 'look-up') return true;
    if (this.#searches >= searches) return false;
    // Owners of long statements leave a turn to those of shorter ones, however many they are.
    const isHeavy = this.#use.isHeavyBesideOthers(lane.owner);
    return !isHeavy || this.#heavySearchesBefore(lane) < Math.max(1, searches - 1);
  }

  #isAtOwnBound({ lane, kind }: Pick<Place, 'lane' | 'kind'>): boolean {
    const { runningOfOwner, searchesOfOwner } = this.#bounds;
    const isHeavy = this.#use.isHeavyBesideOthers(lane.owner);
    const most = isHeavy ? this.#heavy.searches : searchesOfOwner;
    // Beside its long searches an owner has room for a look-up.
    if (lane.running >= (isHeavy ? Math.min(runningOfOwner, most + 1) : runningOfOwner))
      return true;
    return kind === 'search' && lane.searches >= most;
  }

  /**
   * The searches of owners of long statements, but for those who have longer ones than this owner: on a busy machine
   * all statements are long.
   */
  #heavySearchesBefore({ owner }: Lane): number {
    const ownMs = this.#use.longestMsOf(owner);
    return [...this.#lanes.values()]
      .filter((lane) => lane.searches > 0 && this.#use.isHeavyBesideOthers(lane.owner))
      .filter((lane) => this.#use.longestMsOf(lane.owner) <= ownMs)
      .reduce((sum, { searches }) => sum + searches, 0);
  }

  #forgetIfIdle(lane: Lane): void {
    if (lane.running + lane.waiting === 0) this.#lanes.delete(lane.owner);
  }

  #busy(whose: 'owner' | 'all'): ConnectError {
    const message =
      whose === 'owner'
        ? "too many reads of this project, or of its owner's projects together, are running or waiting"
        : 'too many reads of all projects are running or waiting';
    const retryAfter = String(Math.ceil(this.#bounds.waitMs / 1_000));
    return new ConnectError(message, Code.ResourceExhausted, { 'retry-after': retryAfter });
  }
}

function moveLast<T>(map: Map<string, T>, key: string): void {
  const value = map.get(key);
  if (map.delete(key) && value !== undefined) map.set(key, value);
}

function newLane(owner: string): Lane {
  return { owner, running: 0, searches: 0, waiting: 0, projects: new Map() };
}
