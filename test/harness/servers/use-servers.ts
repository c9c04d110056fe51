// Real servers that end by themselves. An engine or a broker serves all tests of a file: started before the first test,
// stopped after the last. A test that needs one of its own calls startEngine or startBroker.

import { beforeAll, onTestFinished } from 'vitest';
import { type BrokerOptions, startBroker } from './broker.ts';
import type { ChildServer } from './child-server.ts';
import { type EngineOptions, startEngine } from './engine.ts';
import { type MailServerOptions, startMailServer, type TestMailServer } from './mail-server.ts';

/**
 * Call it before the file's other hooks: hooks start in order and end in reverse, so they all find the engine running.
 * What it returns can be used in hooks and tests, not before.
 */
export function useEngine(options: EngineOptions = {}): ChildServer {
  return useServer(() => startEngine(options));
}

/** As useEngine. */
export function useBroker(options: BrokerOptions = {}): ChildServer {
  return useServer(() => startBroker(options));
}

/** A mail server that ends with the test that starts it. */
export async function mailServerOfTest(options: MailServerOptions): Promise<TestMailServer> {
  const server = await startMailServer(options);
  onTestFinished(() => server.close());
  return server;
}

function useServer(start: () => Promise<ChildServer>): ChildServer {
  let started: ChildServer | undefined;
  beforeAll(async () => {
    const server = await start();
    started = server;
    // Not afterAll: Vitest calls the functions that beforeAll returns later. A file's clients would outlive the server,
    // and one that sends while its socket ends throws from inside the NATS client.
    return () => server.stop();
  });
  const running = (): ChildServer => {
    if (started === undefined)
      throw new Error('the server starts in a hook: use it in a later one');
    return started;
  };
  return {
    get url() {
      return running().url;
    },
    get dir() {
      return running().dir;
    },
    pid: () => running().pid(),
    stop: () => running().stop(),
    kill9: () => running().kill9(),
    restart: () => running().restart(),
    pause: () => running().pause(),
    resume: () => running().resume(),
  };
}
