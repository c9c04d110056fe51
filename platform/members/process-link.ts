// Questions and answers between a process and a child, over the channel that Node opens between the two. Each side
// answers the questions in its own table; the meaning of a question is not known here.

import { setTimeout as delay } from 'node:timers/promises';

/** A child as its parent sees it, or `process` as the child does. */
interface Channel {
  send?(
    message: object,
    handle: unknown,
    options: undefined,
    sent: (error: Error | null) => void,
  ): boolean;
  on(event: 'message', listener: (message: unknown, handle: unknown) => void): unknown;
}

/** An answer that brings a handle of node's, such as a socket's: the other process gets a copy of its own. */
export class AnswerWithHandle {
  readonly value: unknown;
  readonly handle: object;

  constructor(value: unknown, handle: object) {
    this.value = value;
    this.handle = handle;
  }
}

/** A question's name to its answer, which must survive JSON, and so must what is asked about. */
export type Answers = Readonly<Record<string, (about: unknown) => unknown>>;

type Message =
  | { kind: 'question'; id: number; name: string; about?: unknown }
  | { kind: 'answer'; id: number; value: unknown };

// The time that an operator's page waits for a dependency.
const answerTimeoutMs = 2_000;

export class ProcessLink {
  readonly #channel: Channel;
  readonly #answers: Answers;
  readonly #waiting = new Map<number, (value: unknown) => void>();
  #questions = 0;

  constructor(channel: Channel, answers: Answers) {
    this.#channel = channel;
    this.#answers = answers;
    channel.on('message', (message, handle) => {
      if (isMessage(message)) void this.#take(message, handle);
    });
  }

  /** Undefined where the other side is gone, fails, or takes longer; an AnswerWithHandle where it gave one. */
  async ask(name: string, about?: unknown, timeoutMs = answerTimeoutMs): Promise<unknown> {
    const id = ++this.#questions;
    const timeout = new AbortController();
    const answer = new Promise((resolve) => this.#waiting.set(id, resolve));
    this.#send({ kind: 'question', id, name, about });
    const { signal } = timeout;
    const tooLate = delay(timeoutMs, undefined, { signal }).catch(() => undefined);
    try {
      return await Promise.race([answer, tooLate]);
    } finally {
      timeout.abort();
      this.#waiting.delete(id);
    }
  }

  async #take(message: Message, handle: unknown): Promise<void> {
    if (message.kind === 'answer') {
      const { id, value } = message;
      const hasHandle = typeof handle === 'object' && handle !== null;
      const resolve = this.#waiting.get(id);
      if (resolve !== undefined) resolve(hasHandle ? new AnswerWithHandle(value, handle) : value);
      else if (hasHandle) Reflect.apply(Reflect.get(handle, 'close'), handle, []);
      return;
    }
    const { id, name, about } = message;
    let value: unknown;
    try {
      value = await this.#answers[name]?.(about);
    } catch {
      value = undefined;
    }
    if (value instanceof AnswerWithHandle) {
      this.#send({ kind: 'answer', id, value: value.value }, value.handle);
    } else this.#send({ kind: 'answer', id, value });
  }

  /** A side that is gone answers nothing; `ask` then runs into its timeout. */
  #send(message: Message, handle?: object): void {
    this.#channel.send?.(message, handle, undefined, () => {});
  }
}

function isMessage(value: unknown): value is Message {
  if (typeof value !== 'object' || value === null) return false;
  const kind: unknown = Reflect.get(value, 'kind');
  return (kind === 'question' || kind === 'answer') && typeof Reflect.get(value, 'id') === 'number';
}
