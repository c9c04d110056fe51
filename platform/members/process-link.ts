// Questions and answers between a process and a child, over the channel that Node opens between the two. Each side
// answers the questions in its own table; the meaning of a question is not known here.

import { setTimeout as delay } from 'node:timers/promises';

/** A child as its parent sees it, or `process` as the child does. */
interface Channel {
  send?(message: object, sent: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
}

/** A question's name to its answer, which must survive JSON. */
export type Answers = Readonly<Record<string, () => unknown>>;

type Message =
  | { kind: 'question'; id: number; name: string }
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
    channel.on('message', (message) => {
      if (isMessage(message)) void this.#take(message);
    });
  }

  /** Undefined where the other side is gone, fails, or takes longer than 2 s. */
  async ask(name: string): Promise<unknown> {
    const id = ++this.#questions;
    const timeout = new AbortController();
    const answer = new Promise((resolve) => this.#waiting.set(id, resolve));
    this.#send({ kind: 'question', id, name });
    const { signal } = timeout;
    const tooLate = delay(answerTimeoutMs, undefined, { signal }).catch(() => undefined);
    try {
      return await Promise.race([answer, tooLate]);
    } finally {
      timeout.abort();
      this.#waiting.delete(id);
    }
  }

  async #take(message: Message): Promise<void> {
    if (message.kind === 'answer') {
      this.#waiting.get(message.id)?.(message.value);
      return;
    }
    const { id, name } = message;
    let value: unknown;
    try {
      value = await this.#answers[name]?.();
    } catch {
      value = undefined;
    }
    this.#send({ kind: 'answer', id, value });
  }

  /** A side that is gone answers nothing; `ask` then runs into its timeout. */
  #send(message: Message): void {
    this.#channel.send?.(message, () => {});
  }
}

function isMessage(value: unknown): value is Message {
  if (typeof value !== 'object' || value === null) return false;
  const kind: unknown = Reflect.get(value, 'kind');
  return (kind === 'question' || kind === 'answer') && typeof Reflect.get(value, 'id') === 'number';
}
