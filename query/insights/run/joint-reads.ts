// One read at a time of each key, whoever asks. A caller never gets a read that began before the call, because it would
// not know what was stored meanwhile: it shares the next one with all who come while one is running.

interface Running<T> {
  current: Promise<T>;
  next: Promise<T> | undefined;
}

export class JointReads<T> {
  readonly #running = new Map<string, Running<T>>();

  /** `read` is called now, or once for all who wait. */
  join(key: string, read: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key);
    if (running === undefined) return this.#start(key, read);
    running.next ??= running.current.then(
      () => this.#start(key, read),
      () => this.#start(key, read),
    );
    return running.next;
  }

  #start(key: string, read: () => Promise<T>): Promise<T> {
    const running: Running<T> = { current: read(), next: undefined };
    this.#running.set(key, running);
    const end = (): void => {
      if (running.next === undefined) this.#running.delete(key);
    };
    running.current.then(end, end);
    return running.current;
  }
}
