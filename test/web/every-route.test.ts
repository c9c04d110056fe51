// Every page of the app with data in it, light, dark and on a phone: what no page may do.
// Takes some 140 seconds.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { eventually, untilCounted } from '../harness/clients/client.ts';
import { listProfiles } from '../harness/clients/profile-client.ts';
import { root } from '../harness/source-tree.ts';
import { axe } from '../harness/web/accessibility.ts';
import { untilFocused } from '../harness/web/keyboard.ts';
import { layoutFaults, menuFaults } from '../harness/web/layout-faults.ts';
import { mailedLinks } from '../harness/web/mailed-links.ts';
import { layoutShift } from '../harness/web/page-faults.ts';
import { questionForms } from '../harness/web/question-forms.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs, type Reader } from '../harness/web/web-app.ts';

const timeout = patienceMs;
/** A tenth of what counts as good on the web (0.1, web.dev/articles/cls). */
const maxLayoutShift = 0.01;
const desk = { width: 1280, height: 800 };
const phone = { width: 360, height: 740 };

interface Route {
  pattern: string;
  isOpen: boolean;
}

const table = readFileSync(join(root, 'web', 'routes.ts'), 'utf8');
const routes: Route[] = [...table.matchAll(/^ {2}(open|inside)\(\s*'([^']+)'/gm)].map(
  ([, access, pattern = '']) => ({ pattern, isOpen: access === 'open' }),
);

describe.runIf(hasBrowser)('every page', () => {
  const app = useWebApp(() => ({ MILLRACE_WEBHOOK_ALLOW: '127.0.0.0/8' }));
  /** What stands in the place of a pattern's parameters. */
  let values: Record<string, readonly string[]>;
  let member: Reader & { page: Page };
  let stranger: Reader & { page: Page };

  beforeAll(async () => {
    const { baseUrl, dataDir, organizationId, projectId } = app.stack;
    const play = [join(root, 'dist', 'demo', 'play.js'), '--url', baseUrl, '--data', dataDir];
    const amount = ['--events', '1500', '--seed', '7'];
    const run = promisify(execFile);
    await run(process.execPath, [...play, ...amount]);
    const admin = [join(root, 'dist', 'admin.js'), '--data', dataDir];
    const grant = ['grant-super-admin', '--email', app.admin.email];
    await run(process.execPath, [...admin, ...grant]);
    await untilCounted(app.stack);
    const profiles = await listProfiles(app.stack);
    const named = profiles.find(({ externalId }) => externalId !== undefined) ?? profiles[0];
    values = {
      project: [projectId],
      org: [organizationId],
      profile: [named?.id ?? ''],
      type: questionForms,
      webhook: [await makeWebhook()],
      alert: [await makeAlert()],
      ...(await makeReport()),
      segment: [await makeSegment(), 'new'],
      board: ['overview'],
      token: [await shareOverview()],
    };
    member = await app.signedIn('/account');
    const reader = await app.newReader();
    stranger = { ...reader, page: await reader.openTab('/sign-in') };
  });

  async function makeWebhook(): Promise<string> {
    const subscription = {
      subject_type: 'WEBHOOK_SUBJECT_TYPE_ROOM',
      subject_id: 'room-1',
      subscription_type: 'WEBHOOK_SUBSCRIPTION_TYPE_MESSAGE_SENT',
    };
    const endpoint = { name: 'CRM', endpoint_url: 'http://127.0.0.1:9/' };
    const path = `/v1/organizations/${app.stack.organizationId}/webhooks`;
    const content = { ...endpoint, subscriptions: [subscription] };
    const { webhook } = await app.manage(path, { content });
    return String(Reflect.get(Object(webhook), 'id'));
  }

  async function makeAlert(): Promise<string> {
    const { alert } = await app.manage('/dashboard.alerts.v1.AlertsService/Create', {
      displayName: 'Few views',
      spec: { insightType: 'INSIGHT_TYPE_TRENDS', events: [{ event: { kind: 'page_view' } }] },
      condition: { kind: 'ALERT_CONDITION_KIND_BELOW', threshold: 10 },
      interval: 'ALERT_INTERVAL_HOUR',
    });
    return String(Reflect.get(Object(alert), 'id'));
  }

  /** With the token of the mail that asks somebody who is no member. */
  async function makeReport(): Promise<Record<'report' | 'recipient', string[]>> {
    const { report } = await app.manage('/dashboard.reports.v1.ReportsService/Create', {
      ...{ displayName: 'Every morning', dashboardId: 'overview' },
      schedule: { frequency: 'REPORT_FREQUENCY_DAILY', hour: 8 },
      emails: ['eve@elsewhere.example'],
    });
    const recipient = await eventually(
      async () => mailedLinks(app.stack.dataDir).at(-1) ?? '',
      (token) => token !== '',
    );
    return { report: [String(Reflect.get(Object(report), 'id'))], recipient: [recipient] };
  }

  async function makeSegment(): Promise<string> {
    const event = { kind: 'page_view', filters: [{ property: '$browser', operator: 5 }] };
    const group = {
      tests: [
        { did: { event, atLeast: 2, lastDays: 90 } },
        { trait: { property: 'plan', operator: 'FILTER_OPERATOR_IS_NOT_SET' } },
      ],
    };
    const older = { tests: [{ firstSeen: { before: '2020-01-01T00:00:00Z' } }], negated: true };
    const { segment } = await app.manage('/dashboard.segments.v1.SegmentsService/Create', {
      displayName: 'Readers',
      condition: { groups: [group, older] },
    });
    return String(Reflect.get(Object(segment), 'id'));
  }

  async function shareOverview(): Promise<string> {
    const createShare = '/dashboard.dashboards.v1.DashboardsService/CreateShare';
    return String((await app.manage(createShare, { dashboardId: 'overview' }))['token']);
  }

  /** The addresses of a pattern. */
  function pathsOf(pattern: string): string[] {
    const name = /:(\w+)/.exec(pattern)?.[1];
    if (name === undefined) return [pattern];
    const found = values[name];
    if (found === undefined) throw new Error(`no example of :${name}`);
    return found.flatMap((value) => pathsOf(pattern.replace(`:${name}`, value)));
  }

  it('has its route here', () => {
    expect(routes.length).toBeGreaterThan(15);
  });

  it.each(routes)(
    'at $pattern is accessible, keeps to its origin and policy, and fits a phone',
    async ({ pattern, isOpen }) => {
      const reader = isOpen ? stranger : member;
      for (const path of pathsOf(pattern)) {
        // `/` leads a reader of one project on, unless it is asked for all.
        const found = await faultsAt(reader.page, path === '/' ? '/?all' : path);
        expect([...found, ...reader.faults.splice(0)], path).toEqual([]);
      }
    },
  );

  it('have a navigation on a phone that Escape closes, and a press beside it that does no more', async () => {
    const { page } = member;
    await page.setViewportSize(phone);
    await page.goto(`${app.stack.baseUrl}/account`);
    const button = page.getByRole('button', { name: 'Navigation' });
    const drawer = page.getByRole('navigation', { name: 'Main' });
    await button.press('Enter');
    await drawer.waitFor();
    await button.press('Escape');
    await drawer.waitFor({ state: 'hidden' });
    await button.press('Enter');
    await drawer.waitFor();
    await drawer.getByRole('link', { name: 'Millrace', exact: true }).press('Escape');
    await drawer.waitFor({ state: 'hidden' });
    await untilFocused(page, button);
    await button.press('Enter');
    await drawer.waitFor();
    const you = page.getByRole('button', { name: 'You', exact: true });
    const { x = 0, y = 0, width = 0, height = 0 } = (await you.boundingBox()) ?? {};
    await page.mouse.click(x + width / 2, y + height / 2);
    await drawer.waitFor({ state: 'hidden' });
    expect(await you.getAttribute('aria-expanded')).toBe('false');
    // It can be pressed again.
    await you.click();
    // Of a super admin.
    await page.getByRole('menuitem', { name: 'Operator' }).waitFor();
    await page.getByRole('menu', { name: 'You' }).press('Escape');
    expect(member.faults.splice(0)).toEqual([]);
  });

  async function faultsAt(page: Page, path: string): Promise<string[]> {
    await page.setViewportSize(desk);
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    await page.goto(app.stack.baseUrl + path);
    await settle(page);
    const shift = await layoutShift(page);
    const light = await axe(page);
    const wide = await layoutFaults(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    // Nothing but colours differs.
    const dark = await axe(page, 'colours');
    await page.setViewportSize(phone);
    await settle(page);
    const narrow = await axe(page, 'all but colours');
    const narrowLayout = [...(await layoutFaults(page)), ...(await menuFaults(page))];
    const tooWidePx = Number(
      await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      ),
    );
    return [
      ...(shift <= maxLayoutShift ? [] : [`the content moved by itself: ${shift}`]),
      ...light.map((fault) => `light: ${fault}`),
      ...dark.map((fault) => `dark: ${fault}`),
      ...wide.map((fault) => `1280 px: ${fault}`),
      ...[...narrow, ...narrowLayout].map((fault) => `360 px: ${fault}`),
      ...(tooWidePx <= 0 ? [] : [`360 px: the document is ${tooWidePx} px too wide`]),
    ];
  }
});

/** Until the page has its heading, and nothing is on its way. */
async function settle(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor();
  await expect.poll(() => page.locator('.loading, [aria-busy=true]').count(), { timeout }).toBe(0);
}
