// Brings live events to the viewers of one process: hears a shard's frames and a project's verdicts and refusals only
// while somebody watches, and says so to the pipeline. What a viewer makes of an event is viewer.ts's; the subjects are
// platform/live/live-subjects.ts's.

import type { NatsConnection } from '../../platform/broker/nats.ts';
import { eventsStream, eventsSubject } from '../../platform/broker/streams.ts';
import type { Clock } from '../../platform/clock.ts';
import { hearLive, tellLive } from '../../platform/live/live-messages.ts';
import { liveSubject } from '../../platform/live/live-subjects.ts';
import { viewFrame } from '../../proto/wire/frame.ts';
import { decodeRefusal } from '../../proto/wire/live/refusal-message.ts';
import { decodeVerdict } from '../../proto/wire/live/verdict-message.ts';
import { ArrivalSampler } from './arrival-sampler.ts';
import { ShardLag } from './shard-lag.ts';
import type { Viewer } from './viewer.ts';

interface LiveFeedOptions {
  /**
   * Makes a connection of the feed's own, asked for at the first viewer: frames that wait to be heard must never wait
   * before the acknowledgements of other work, and a broker closes the connection of a process that hears too slowly.
   */
  connect(): Promise<NatsConnection>;
  shardOf(projectId: string): number;
  clock: Clock;
}

/** The pipeline believes it for three times as long (pipeline/watch/watched-projects.ts). */
const sayEveryMs = 2_000;

interface WatchedShard {
  /** By project. */
  viewers: Map<string, Set<Viewer>>;
  lag: ShardLag;
  close(): void;
}

interface WatchedProject {
  shard: WatchedShard;
  viewers: Set<Viewer>;
  close(): void;
}

export class LiveFeed {
  readonly #options: LiveFeedOptions;
  readonly #projects = new Map<string, WatchedProject>();
  readonly #shards = new Map<number, WatchedShard>();
  readonly #sampler: ArrivalSampler;
  #connecting: Promise<NatsConnection> | undefined;
  #sayAgain: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: LiveFeedOptions) {
    this.#options = options;
    this.#sampler = new ArrivalSampler(options.clock);
  }

  /** True once the process ends: streams end too. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Resolves once the viewer misses no later event of the project. Rejects where the broker cannot be reached. The
   * viewer leaves by `leave`, whatever has become of this.
   */
  async enter(projectId: string, viewer: Viewer): Promise<void> {
    const watching = liveSubject('watching', projectId);
    if (watching === undefined) throw new Error('watch: the id of a project is no UUID');
    this.#checkOpen();
    const connection = await this.#connection();
    this.#checkOpen();
    const known = this.#projects.get(projectId);
    const project = known ?? this.#watch(connection, projectId);
    project.viewers.add(viewer);
    this.#shareRates();
    tellLive(connection, watching, nothing);
    this.#sayAgain ??= setInterval(() => this.#say(connection), sayEveryMs);
    await connection.flush();
  }

  leave(projectId: string, viewer: Viewer): void {
    const project = this.#projects.get(projectId);
    project?.viewers.delete(viewer);
    this.#shareRates();
    if (project === undefined || project.viewers.size > 0) return;
    this.#projects.delete(projectId);
    project.close();
    project.shard.viewers.delete(projectId);
    if (project.shard.viewers.size === 0) {
      this.#shards.delete(this.#options.shardOf(projectId));
      project.shard.close();
    }
    if (this.#projects.size > 0) return;
    clearInterval(this.#sayAgain);
    this.#sayAgain = undefined;
  }

  /** The age of the oldest event of the project's shard that is not stored; undefined while nobody knows. */
  lagMs(projectId: string): number | undefined {
    return this.#projects.get(projectId)?.shard.lag.ms();
  }

  /** Ends every stream, and the connection. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { viewers } of this.#projects.values()) for (const viewer of viewers) viewer.wake();
    await this.#connecting?.then(
      (connection) => connection.close(),
      () => {},
    );
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new Error('watch: the process ends');
  }

  #connection(): Promise<NatsConnection> {
    if (this.#connecting !== undefined) return this.#connecting;
    const connecting = this.#options.connect();
    this.#connecting = connecting;
    const forget = (): void => {
      if (this.#connecting === connecting) this.#connecting = undefined;
    };
    connecting.then((connection) => connection.closed().then(forget), forget);
    return connecting;
  }

  #watch(connection: NatsConnection, projectId: string): WatchedProject {
    const viewers = new Set<Viewer>();
    const shard = this.#shardOf(connection, projectId);
    shard.viewers.set(projectId, viewers);
    const verdicts = liveSubject('watch', projectId) ?? '';
    const closeVerdicts = hearLive(connection, verdicts, (content) => {
      const verdict = decodeVerdict(content);
      if (verdict !== undefined) for (const viewer of viewers) viewer.judge(verdict);
    });
    const refusals = liveSubject('refused', projectId) ?? '';
    const closeRefusals = hearLive(connection, refusals, (content) => {
      const refusal = decodeRefusal(content);
      if (refusal !== undefined) for (const viewer of viewers) viewer.refuse(refusal);
    });
    const close = (): void => {
      closeVerdicts();
      closeRefusals();
    };
    const project = { shard, viewers, close };
    this.#projects.set(projectId, project);
    return project;
  }

  #shardOf(connection: NatsConnection, projectId: string): WatchedShard {
    const number = this.#options.shardOf(projectId);
    const known = this.#shards.get(number);
    if (known !== undefined) return known;
    const viewers = new Map<string, Set<Viewer>>();
    const lag = new ShardLag(connection, eventsStream(number), this.#options.clock);
    const closeFrames = hearLive(connection, eventsSubject(number), (frame) => {
      for (const request of viewFrame(frame)) {
        const watching = viewers.get(request.context.projectId);
        if (watching !== undefined) this.#sampler.arrive(request, watching, this.#projects.size);
      }
    });
    const close = (): void => {
      closeFrames();
      lag.close();
    };
    const shard = { viewers, lag, close };
    this.#shards.set(number, shard);
    return shard;
  }

  #shareRates(): void {
    const all = [...this.#projects.values()].flatMap(({ viewers }) => [...viewers]);
    for (const viewer of all) viewer.limitRate(1 / all.length);
  }

  #say(connection: NatsConnection): void {
    for (const projectId of this.#projects.keys()) {
      const subject = liveSubject('watching', projectId);
      if (subject !== undefined) tellLive(connection, subject, nothing);
    }
  }
}

const nothing = new Uint8Array();
