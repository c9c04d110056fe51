// The process that checks or imports one file (history/uploaded.ts): started with a job, watched until it ends.

import { type ChildProcess, fork } from 'node:child_process';
import {
  type ImportJob,
  type ImportNews,
  jobMessage,
  readNews,
} from '../../platform/imports/import-run.ts';
import type { ImportProgress } from '../../proto/gen/dashboard/imports/v1/imports_pb.js';

export type ImportOutcome =
  | Exclude<ImportNews, { kind: 'progress' }>
  | { kind: 'died'; how: string };

/** Of the process's own objects: a file that needs more ends it, and nothing else. */
const maxHeapMiB = 768;

export class ImportProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  /** The newest, until it is taken. */
  #progress: ImportProgress | undefined;
  /** Undefined while it works. */
  outcome: ImportOutcome | undefined;

  constructor(script: string, job: ImportJob) {
    // The key goes by the channel, where no list of processes shows it.
    this.#child = fork(script, [], {
      execArgv: [`--max-old-space-size=${maxHeapMiB}`],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#child.on('message', (message) => this.#hear(readNews(message)));
    this.#ended = new Promise((resolve) => {
      const end = (how: string): void => {
        this.outcome ??= { kind: 'died', how };
        resolve();
      };
      // Its last words may come after `exit`, and never after `close`.
      this.#child.once('close', (code, signal) => end(signal ?? `code ${code}`));
      // One that could not be started never says `close`.
      this.#child.on('error', (error) => {
        if (this.#child.pid === undefined) end(error.message);
      });
    });
    // Where it has ended already, `close` says so.
    this.#child.send(jobMessage(job), () => {});
  }

  takeProgress(): ImportProgress | undefined {
    const progress = this.#progress;
    this.#progress = undefined;
    return progress;
  }

  /** Ends it at once. Events that it has sent stay, and the next process sends the others. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  #hear(news: ImportNews): void {
    if (news.kind === 'progress') this.#progress = news.progress;
    else this.outcome = news;
  }
}
