// Takes each import from state to state, twice a second: the file is whole -> it is checked -> a person starts it -> it
// is imported. One file is checked and one imported at a time; the others wait in the order of time. All that it knows
// is on disk, so that the next process goes on: it reads the whole file again, and sends what is not stored yet.

import { createHmac, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { type Clock, dayMs } from '../../platform/clock.ts';
import {
  type ImportFiles,
  type LiveImport,
  withState,
} from '../../platform/imports/import-files.ts';
import type { Log } from '../../platform/log.ts';
import { createPrivateJson, readPrivateRecord } from '../../platform/secrets/private-file.ts';
import { type Import, ImportState } from '../../proto/gen/dashboard/imports/v1/imports_pb.js';
import type { ProjectStore } from '../projects/project-record.ts';
import { endImportKey, makeImportKey } from './import-key.ts';
import { type ImportOutcome, ImportProcess } from './import-process.ts';

export interface ImportRunnerOptions {
  files: ImportFiles;
  projects: ProjectStore;
  /** Why no import goes on here. */
  refusal: string | undefined;
  baseUrl: string;
  /** Of history/uploaded.ts. */
  script: string;
  clock: Clock;
  log: Log;
}

type Lane = ImportState.CHECKING | ImportState.IMPORTING;

interface Running {
  lane: Lane;
  process: ImportProcess;
}

const everyMs = 500;
/** Nobody goes on with it: its file takes room. */
const patienceMs = dayMs;
/** A process that dies may have been killed; one that dies of its file dies again. */
const maxDeaths = 3;
/** An import whose making was broken off. */
const halfMadeMs = 60_000;

/** Begins at once; `stop` ends the processes, and leaves the imports to whoever starts next. */
export async function startImports(
  options: ImportRunnerOptions,
): Promise<{ stop(): Promise<void> }> {
  await options.files.prepare();
  await options.files.removeGone();
  const runner = new ImportRunner(options);
  runner.start();
  return runner;
}

class ImportRunner {
  readonly #options: ImportRunnerOptions;
  readonly #running = new Map<string, Running>();
  readonly #deaths = new Map<string, number>();
  readonly #secret: string;
  /** Projects whose import cannot be read, which the log says once. */
  readonly #told = new Set<string>();
  #looking = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isStopping = false;

  constructor(options: ImportRunnerOptions) {
    this.#options = options;
    this.#secret = secretIn(join(options.files.directory, 'secret.json'));
  }

  start(): void {
    const again = (): void => {
      this.#looking = this.#look().catch((error: unknown) => {
        this.#options.log.error({ err: error }, 'imports cannot go on');
      });
      void this.#looking.then(() => {
        if (!this.#isStopping) this.#timer = setTimeout(again, everyMs);
      });
    };
    again();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    await this.#looking;
    await Promise.all([...this.#running.values()].map(({ process }) => process.kill()));
  }

  async #look(): Promise<void> {
    const waiting: LiveImport[] = [];
    for (const projectId of await this.#options.files.liveProjects()) {
      try {
        const live = await this.#options.files.findLive(projectId);
        if (live === undefined) await this.#removeHalfMade(projectId);
        else if (await this.#isWaiting(live)) waiting.push(live);
      } catch (error) {
        this.#tell(projectId, error);
      }
    }
    for (const lane of [ImportState.CHECKING, ImportState.IMPORTING] as const) {
      await this.#serve(
        lane,
        waiting.filter(({ record }) => record.state === lane),
      );
    }
  }

  /** The imports of others go on. */
  #tell(projectId: string, error: unknown): void {
    if (this.#told.has(projectId)) return;
    this.#told.add(projectId);
    this.#options.log.error({ projectId, err: error }, 'an import cannot go on');
  }

  async #removeHalfMade(projectId: string): Promise<void> {
    const { files, clock } = this.#options;
    const ageMs = clock.nowMs() - (await files.changeTimeMs(projectId));
    if (ageMs > halfMadeMs) await files.remove(projectId);
  }

  /** Takes it as far as it goes without a process; true where it needs one. */
  async #isWaiting(live: LiveImport): Promise<boolean> {
    const { refusal } = this.#options;
    const running = this.#running.get(live.projectId);
    if (live.isCanceled || refusal !== undefined) {
      await running?.process.kill();
      this.#running.delete(live.projectId);
      await this.#end(live, ImportState.CANCELED, {
        fault: live.isCanceled ? '' : (refusal ?? ''),
      });
      return false;
    }
    if (running !== undefined) {
      await this.#follow(live, running);
      return false;
    }
    const { files } = this.#options;
    const { record } = live;
    if (await files.isEnded(live.projectId, record)) {
      await files.remove(live.projectId);
      return false;
    }
    switch (record.state) {
      case ImportState.UPLOADING:
        if (record.uploadedBytes < record.bytes) await this.#endOld(live, live.uploadTimeMs);
        else await this.#moveTo(live, ImportState.CHECKING);
        return false;
      case ImportState.CHECKED:
        if (live.isStarted) await this.#moveTo(live, ImportState.IMPORTING);
        else await this.#endOld(live, stateTimeMs(record));
        return false;
      case ImportState.CHECKING:
      case ImportState.IMPORTING:
        return true;
      default:
        await this.#end(live, record.state, {});
        return false;
    }
  }

  async #endOld(live: LiveImport, sinceMs: number): Promise<void> {
    if (this.#options.clock.nowMs() - sinceMs < patienceMs) return;
    await this.#end(live, ImportState.CANCELED, { fault: 'nobody went on with it for a day' });
  }

  async #moveTo(live: LiveImport, state: Lane): Promise<void> {
    const stateTime = timestampFromMs(this.#options.clock.nowMs());
    await this.#options.files.writeState(
      live.projectId,
      withState(live.record, { state, stateTime, queuePlace: 0 }),
    );
  }

  /** Starts the first where the lane is free, and tells the others their places. */
  async #serve(lane: Lane, waiting: readonly LiveImport[]): Promise<void> {
    const queue = waiting.toSorted(
      (one, other) => stateTimeMs(one.record) - stateTimeMs(other.record),
    );
    const isFree = ![...this.#running.values()].some((running) => running.lane === lane);
    const first = isFree ? queue.shift() : undefined;
    if (first !== undefined) await this.#begin(first, lane);
    for (const [index, { projectId, record }] of queue.entries()) {
      if (record.queuePlace === index + 1) continue;
      const { files } = this.#options;
      await files.writeState(projectId, withState(record, { queuePlace: index + 1 }));
    }
  }

  async #begin(live: LiveImport, lane: Lane): Promise<void> {
    const { files, projects, clock, baseUrl, script, log } = this.#options;
    const { projectId, record } = live;
    let target: { baseUrl: string; privateKey: string } | undefined;
    if (lane === ImportState.IMPORTING) {
      const made = await makeImportKey(projects, projectId, record, clock);
      if (made.kind === 'refused') {
        await this.#end(live, ImportState.FAILED, { fault: made.why });
        return;
      }
      target = { baseUrl, privateKey: made.privateKey };
    }
    const secret = createHmac('sha256', this.#secret).update(projectId).digest('hex');
    const process = new ImportProcess(script, {
      record,
      path: files.uploadPath(projectId, record),
      secret,
      target,
    });
    this.#running.set(projectId, { lane, process });
    if (record.queuePlace !== 0)
      await files.writeState(projectId, withState(record, { queuePlace: 0 }));
    log.info(
      { projectId, importId: record.id, isCheck: target === undefined },
      'a file of history is read',
    );
  }

  async #follow(live: LiveImport, { lane, process }: Running): Promise<void> {
    const { outcome } = process;
    if (outcome !== undefined) {
      this.#running.delete(live.projectId);
      await this.#settle(live, lane, outcome);
      return;
    }
    const progress = process.takeProgress();
    if (progress === undefined) return;
    await this.#options.files.writeState(live.projectId, withState(live.record, { progress }));
  }

  async #settle(live: LiveImport, lane: Lane, outcome: ImportOutcome): Promise<void> {
    const { files, clock, log } = this.#options;
    const { projectId, record } = live;
    switch (outcome.kind) {
      case 'died': {
        const deaths = (this.#deaths.get(record.id) ?? 0) + 1;
        this.#deaths.set(record.id, deaths);
        log.warn(
          { importId: record.id, how: outcome.how, deaths },
          'the process of an import died',
        );
        if (deaths < maxDeaths) return;
        const fault =
          'the process that reads the file died three times: the log of the service says how';
        await this.#end(live, ImportState.FAILED, { fault });
        return;
      }
      case 'failed':
        await this.#end(live, ImportState.FAILED, { fault: outcome.why });
        return;
      case 'done': {
        const { family, report } = outcome;
        if (lane === ImportState.IMPORTING) {
          await this.#end(live, ImportState.DONE, { result: report });
          return;
        }
        const stateTime = timestampFromMs(clock.nowMs());
        const { progress: _over, ...checked } = record;
        const state = ImportState.CHECKED;
        await files.writeState(
          projectId,
          withState({ ...checked, family, report }, { state, stateTime }),
        );
        return;
      }
      default:
        outcome satisfies never;
    }
  }

  async #end(
    live: LiveImport,
    state: ImportState,
    changes: { fault?: string; result?: Import['report'] & {} },
  ): Promise<void> {
    const { files, projects, clock, log } = this.#options;
    const { projectId, record } = live;
    await endImportKey(projects, projectId, record, clock);
    this.#deaths.delete(record.id);
    const stateTime = timestampFromMs(clock.nowMs());
    const { progress: _over, ...rest } = record;
    await files.end(projectId, withState(rest, { state, stateTime, queuePlace: 0, ...changes }));
    log.info({ projectId, importId: record.id, state: ImportState[state] }, 'an import ended');
  }
}

function stateTimeMs({ stateTime }: Import): number {
  return stateTime === undefined ? 0 : timestampMs(stateTime);
}

/** Made once: visitors of access logs are the same in the next file. */
function secretIn(path: string): string {
  createPrivateJson(path, { secret: randomBytes(32).toString('hex') });
  const isSecret = (value: unknown): value is { secret: string } =>
    typeof Object(value).secret === 'string';
  return readPrivateRecord(path, isSecret).secret;
}
