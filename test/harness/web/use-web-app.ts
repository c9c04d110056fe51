// The web app for a file of tests: started before its first test, ended after its last.

import { afterAll, beforeAll } from 'vitest';
import { startWebApp, type WebApp } from './web-app.ts';

/** Call it before the file's other hooks, in a suite that runs where there is a browser. */
export function useWebApp(env: () => Record<string, string> = () => ({})): WebApp {
  let app: Awaited<ReturnType<typeof startWebApp>> | undefined;
  beforeAll(async () => {
    app = await startWebApp(env());
  });
  afterAll(() => app?.stop());
  const running = (): WebApp => {
    if (app === undefined) throw new Error('the web app starts in a hook: use it in a later one');
    return app;
  };
  return {
    get stack() {
      return running().stack;
    },
    get admin() {
      return running().admin;
    },
    newReader: (options) => running().newReader(options),
    signedIn: (path, login) => running().signedIn(path, login),
    manage: (path, message) => running().manage(path, message),
  };
}
