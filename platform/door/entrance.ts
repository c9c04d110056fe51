// A port of this process: bound at once, listened on when somebody first serves it. Who serves may change without a
// connection refused in between, and another process may go on with it. Serving is http.ts's.

import { createServer, type Server, type Socket } from 'node:net';
import { type Bind, type BoundPort, bindPort } from './bound-port.ts';

type Serve = (socket: Socket) => void;

interface EntranceOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** Where the operator chooses another port, for the sentence that says it is taken. */
  setting: string;
  /** Takes the port; may be asked again for another copy. Unless given, this process takes it by itself. */
  bind?: Bind;
  /** Whether another process listens on, or will, when this one does not: connections then wait for it. */
  isHandedOn?: () => boolean;
}

/** Connections that wait in the system's queue; Linux grants `net.core.somaxconn` of them at most. */
const backlog = 1_024;

export class Entrance {
  readonly port: number;
  readonly baseUrl: string;
  readonly isHandedOn: () => boolean;
  readonly #options: EntranceOptions;
  #bound: Promise<BoundPort> | undefined;
  #closing = Promise.resolve();
  #listening: Promise<Server> | undefined;
  #serve: Serve = (socket) => socket.destroy();

  private constructor(bound: BoundPort, options: EntranceOptions) {
    this.port = bound.port;
    this.baseUrl = `http://${displayHost(options.host)}:${bound.port}`;
    this.isHandedOn = options.isHandedOn ?? (() => false);
    this.#bound = Promise.resolve(bound);
    this.#options = { ...options, port: bound.port };
  }

  /** Rejects with one sentence where the port cannot be had. */
  static async at(options: EntranceOptions): Promise<Entrance> {
    return new Entrance(await boundAt(options), options);
  }

  /** Gives the connections that come from now on to `serve`. Rejects with one sentence where it cannot listen. */
  async open(serve: Serve): Promise<void> {
    this.#serve = serve;
    this.#listening ??= this.#listen();
    await this.#listening;
  }

  /** Takes no more connections, for good, where another process goes on; else they come as before. */
  async leave(): Promise<void> {
    if (this.isHandedOn()) await this.close();
  }

  /** Takes no more connections. Those that were taken go on. */
  close(): Promise<void> {
    const listening = this.#listening;
    if (listening !== undefined) {
      this.#listening = undefined;
      // Closing the server closes its handle.
      this.#bound = undefined;
      this.#closing = listening.then(
        (server) => void server.close(),
        () => {},
      );
    }
    return this.#closing;
  }

  /** The socket, for other processes; this one then takes no connections. */
  async share(): Promise<object> {
    await this.close();
    return (await this.#own()).handle;
  }

  /** One socket, also where several ask at once. */
  #own(): Promise<BoundPort> {
    this.#bound ??= boundAt(this.#options).catch((error) => {
      this.#bound = undefined;
      throw error;
    });
    return this.#bound;
  }

  async #listen(): Promise<Server> {
    const bound = await this.#own();
    const server = createServer({ noDelay: true }, (socket) => this.#serve(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) =>
        reject(unusable(this.#options, error.code)),
      );
      server.listen(bound.handle, backlog, resolve);
    });
    return server;
  }
}

async function boundAt(options: EntranceOptions): Promise<BoundPort> {
  const { host, port, bind = bindPort } = options;
  const outcome = await bind(host, port);
  if (outcome.kind === 'bound') return outcome;
  throw unusable(options, outcome.code);
}

function unusable({ host, port, setting }: EntranceOptions, code: string | undefined): Error {
  return new Error(
    code === 'EADDRINUSE'
      ? `port ${port} on ${host} is taken: stop what uses it, or choose another with ${setting}`
      : `port ${port} on ${host} cannot be used: ${code}`,
  );
}

function displayHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
