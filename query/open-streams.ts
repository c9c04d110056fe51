// The streams that readers have open: how many at once, of all projects, of one and of one owner, how long a reader may
// take nothing before its stream ends, and that a stream ends with its credential. With the bound of what one stream
// holds, that bounds what all hold. Closing the connection of a reader that takes nothing is the port's.

import { Code, ConnectError } from '@connectrpc/connect';
import type { Timer } from './timer.ts';

export interface StreamBounds {
  open: number;
  openOfOwner: number;
  openOfProject: number;
  /** The last of all are for owners that have none open, and the last of an owner's for projects that have none. */
  kept: number;
  /** The longest that a reader may leave a message untaken. */
  stallMs: number;
}

/**
 * Each of 24 streams holds some 4 MiB of text and a page of a MiB (profiles/list-profiles.ts). No program lists the
 * profiles of one project six times at once. A reader on a slow line takes a page of usual size, 50 KB, in seconds.
 */
export const defaultStreamBounds: StreamBounds = {
  ...{ open: 24, openOfOwner: 14, openOfProject: 6, kept: 4 },
  stallMs: 30_000,
};

/** The error that ends a stream whose credential opens it no more; undefined while it does. */
export type CredentialEnd = () => Promise<ConnectError | undefined>;

/** A credential's end is known within milliseconds, and asking costs map look-ups: streams end within a second. */
const askEveryMs = 500;
/**
 * A stream goes on for so many asks that nobody can answer, as without a leader of the broker's records: each takes up
 * to a second, so half a minute, in which another one leads as a rule. Nobody can revoke a key meanwhile either, unless
 * this process alone is cut off.
 */
const maxUntoldAsks = 20;

export class OpenStreams {
  readonly #bounds: StreamBounds;
  readonly #timer: Timer;
  readonly #ownerOf: (projectId: string) => string;
  readonly #noun: string;
  readonly #openOfProject = new Map<string, number>();
  readonly #openOfOwner = new Map<string, number>();
  #open = 0;

  /** Each project is its own owner, unless `ownerOf` is given. `noun`: what the streams are to their readers. */
  constructor(
    bounds: StreamBounds,
    timer: Timer,
    ownerOf: (projectId: string) => string = (projectId) => projectId,
    noun = 'streams',
  ) {
    this.#bounds = bounds;
    this.#timer = timer;
    this.#ownerOf = ownerOf;
    this.#noun = noun;
  }

  get open(): number {
    return this.#open;
  }

  /**
   * `messages`, asked for one at a time. They end with deadline_exceeded where the reader leaves one untaken for too
   * long, with `gone`: with its reason where that is an error, and with its credential, even while a message is
   * awaited. Throws resource_exhausted where too many streams are open.
   */
  watch<T>(
    projectId: string,
    gone: AbortSignal,
    messages: AsyncGenerator<T>,
    credentialEnd?: CredentialEnd,
  ): AsyncIterable<T> {
    const uncount = this.#count(projectId);
    let source: AsyncGenerator<T> | undefined = messages;
    let failure: ConnectError | undefined;
    let callOff = (): void => {};
    let interrupt = (_: ConnectError): void => {};
    const end = (why?: ConnectError): void => {
      callOff();
      stopAsking();
      gone.removeEventListener('abort', onGone);
      if (source === undefined) return;
      failure = why;
      uncount();
      const ending = source;
      // The transport may keep this object for as long as its reader is silent: what the generator holds is free now.
      source = undefined;
      void ending.return(undefined).catch(() => {});
      if (why !== undefined) interrupt(why);
    };
    const stopAsking = credentialEnd === undefined ? () => {} : this.#ask(credentialEnd, end);
    const onGone = (): void => end(goneError(gone));
    const onStall = (): void => end(stalled());
    if (gone.aborted) onGone();
    else gone.addEventListener('abort', onGone);
    const interrupted = (work: Promise<IteratorResult<T>> | undefined) =>
      new Promise<IteratorResult<T> | undefined>((resolve, reject) => {
        interrupt = reject;
        Promise.resolve(work).then(resolve, reject);
      });
    const next = async (): Promise<IteratorResult<T, undefined>> => {
      callOff();
      if (failure !== undefined) throw failure;
      try {
        const result = await interrupted(source?.next());
        if (result?.done === false) {
          if (source !== undefined) callOff = this.#timer(this.#bounds.stallMs, onStall);
          return result;
        }
      } catch (error) {
        end();
        throw error;
      }
      end();
      return { done: true, value: undefined };
    };
    const finish = async (): Promise<IteratorResult<T, undefined>> => {
      end();
      return { done: true, value: undefined };
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: finish, throw: finish }) };
  }

  /** Asks again and again, one question at a time, until there is an end or the function that it returns is called. */
  #ask(credentialEnd: CredentialEnd, end: (why: ConnectError) => void): () => void {
    let isOver = false;
    let untoldAsks = 0;
    let callOff = (): void => {};
    const ask = async (): Promise<void> => {
      // Where nobody can tell, the stream goes on: whoever cannot be asked now can be asked again.
      const why = await credentialEnd().catch(() => undefined);
      if (isOver) return;
      untoldAsks = why?.code === Code.Unavailable ? untoldAsks + 1 : 0;
      if (why === undefined || (untoldAsks > 0 && untoldAsks <= maxUntoldAsks)) wait();
      else end(why);
    };
    const wait = (): void => {
      callOff = this.#timer(askEveryMs, () => void ask());
    };
    wait();
    return () => {
      isOver = true;
      callOff();
    };
  }

  /** Returns how to count it no more. */
  #count(projectId: string): () => void {
    const owner = this.#ownerOf(projectId);
    const whose = this.#atBound(projectId, owner);
    if (whose !== undefined) {
      throw new ConnectError(
        `too many ${this.#noun} of ${whose} are open`,
        Code.ResourceExhausted,
        {
          'retry-after': String(Math.ceil(this.#bounds.stallMs / 1_000)),
        },
      );
    }
    this.#add(projectId, owner, 1);
    return () => this.#add(projectId, owner, -1);
  }

  /** Whose streams leave no room for one more of the project; undefined where there is room. */
  #atBound(projectId: string, owner: string): string | undefined {
    const { open, openOfOwner, openOfProject, kept } = this.#bounds;
    const ofProject = this.#openOfProject.get(projectId) ?? 0;
    const ofOwner = this.#openOfOwner.get(owner) ?? 0;
    if (ofProject >= openOfProject) return 'this project';
    if (ofOwner >= openOfOwner - (ofProject > 0 ? kept : 0)) return "this project's owner";
    if (this.#open >= open - (ofOwner > 0 ? kept : 0)) return 'all projects';
    return undefined;
  }

  #add(projectId: string, owner: string, streams: 1 | -1): void {
    this.#open += streams;
    add(this.#openOfProject, projectId, streams);
    add(this.#openOfOwner, owner, streams);
  }
}

function add(counts: Map<string, number>, key: string, more: number): void {
  const count = (counts.get(key) ?? 0) + more;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}

/** The router's reason is an error where the reader's own time-out has passed. */
function goneError({ reason }: AbortSignal): ConnectError {
  return reason instanceof ConnectError ? reason : new ConnectError('gone', Code.Canceled);
}

function stalled(): ConnectError {
  return new ConnectError('the reader took nothing for too long', Code.DeadlineExceeded);
}
