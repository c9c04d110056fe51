// The process that keeps the ports, as the processes that it starts see it: keep-service.ts is the keeper of a service,
// a service that of its members. A process without a keeper takes its ports by itself.

import { AnswerWithHandle, ProcessLink } from '../members/process-link.ts';
import type { Bind } from './bound-port.ts';

/** What came before a start. */
export interface Begun {
  /** Another process served these ports before. */
  isAgain: boolean;
  /** How long connections have been waiting. */
  waitedMs: number;
  /** The signal that ended the process before, unless it ended by itself. */
  killedBy?: string;
}

/** The first argument of a service that has a keeper. A channel alone says nothing: other programs open one too. */
export const keptWord = 'kept';
/** Only a busy machine makes a keeper slow, and a start without its ports ends. */
const patienceMs = 60_000;

const first: Begun = { isAgain: false, waitedMs: 0 };

export class Keeper {
  readonly #link: ProcessLink;
  #isFollowed = false;

  constructor(link: ProcessLink) {
    this.#link = link;
  }

  /** Of a service, which asks for its ports and answers nothing. */
  static ofService(): Keeper {
    return new Keeper(new ProcessLink(process, {}));
  }

  readonly bind: Bind = async (host, port) => {
    const answer = await this.#ask('bind', { host, port });
    if (answer instanceof AnswerWithHandle) {
      return { kind: 'bound', handle: answer.handle, port: Number(answer.value) };
    }
    return { kind: 'refused', code: typeof answer === 'string' ? answer : 'its keeper is silent' };
  };

  async begun(): Promise<Begun> {
    const answer = await this.#ask('begin');
    return isBegun(answer) ? answer : first;
  }

  async serving(): Promise<void> {
    await this.#ask('serving');
  }

  /** Another process, of the build that is there then, follows when this one ends. */
  async startAgain(): Promise<void> {
    this.#isFollowed = true;
    await this.#ask('startAgain');
  }

  #ask(name: string, about?: unknown): Promise<unknown> {
    return this.#link.ask(name, about, patienceMs);
  }

  /** Whether connections that wait will be served. */
  get isFollowed(): boolean {
    return this.#isFollowed;
  }
}

function isBegun(value: unknown): value is Begun {
  return typeof value === 'object' && value !== null && 'isAgain' in value && 'waitedMs' in value;
}
