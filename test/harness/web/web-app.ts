// The web app as a reader has it: Chromium at the service that a user runs, with its own engines. Each reader is a
// browser profile of its own, which remembers every fault of its pages.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { startBrowser } from '../clients/browser.ts';
import { call } from '../clients/client.ts';
import { type Stack, startStack } from '../servers/stack.ts';
import { rememberFaults } from './page-faults.ts';

export interface Login {
  email: string;
  password: string;
}

export interface Reader {
  context: BrowserContext;
  /** What no page may do: errors of the console, breaches of its policy, requests to another origin. */
  faults: string[];
  /** Opens the path in another tab. */
  openTab(path: string): Promise<Page>;
}

export interface WebApp {
  stack: Stack;
  /** Of the demo's organization. */
  admin: Login;
  newReader(options?: Parameters<Browser['newContext']>[0]): Promise<Reader>;
  /** A reader who is signed in; the page stands at `path`. */
  signedIn(path: string, login?: Login): Promise<Reader & { page: Page }>;
  /** A method or a resource of the dashboard, as the admin, in the demo's project; throws where it is refused. */
  manage(path: string, message: object): Promise<Record<string, unknown>>;
}

/** A page on a busy machine; a quiet one needs a hundredth. */
export const patienceMs = 120_000;

/** Starts service and browser; `stop` ends both. */
export async function startWebApp(
  env: Record<string, string> = {},
): Promise<WebApp & { stop(): Promise<void> }> {
  const [stack, browser] = await Promise.all([startStack({ env }), startBrowser()]);
  const file = readFileSync(join(stack.dataDir, 'demo-admin.json'), 'utf8');
  const { adminEmail, adminPassword } = JSON.parse(file);
  const admin: Login = { email: adminEmail, password: adminPassword };
  const newReader: WebApp['newReader'] = async (options) => {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(patienceMs);
    const faults = await rememberFaults(context, stack.baseUrl);
    const openTab = async (path: string): Promise<Page> => {
      const page = await context.newPage();
      await page.goto(stack.baseUrl + path, { waitUntil: 'commit' });
      return page;
    };
    return { context, faults, openTab };
  };
  return {
    stack,
    admin,
    newReader,
    async signedIn(path, login = admin) {
      const reader = await newReader();
      const page = await reader.openTab(`/sign-in?to=${encodeURIComponent(path)}`);
      await page.getByLabel('E-mail').fill(login.email);
      await page.getByLabel('Password').fill(login.password);
      await page.getByLabel('Password').press('Enter');
      await page.waitForURL((url) => url.pathname + url.search === path);
      return { ...reader, page };
    },
    async manage(path, message) {
      const { baseUrl, projectId } = stack;
      const session = await call(baseUrl, '/public.auth.v1.AuthService/SignIn', '', admin);
      const authorization = `Bearer ${session.body['accessToken']}`;
      const headers = { authorization, 'x-project-id': projectId };
      const { status, body } = await call(baseUrl, path, '', message, headers);
      if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
      return body;
    },
    async stop() {
      await browser.close();
      await stack.stop();
    },
  };
}
