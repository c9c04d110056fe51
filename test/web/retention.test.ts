// For how long a project keeps its events, in a real browser: an admin types it, reads what goes, and says yes; then no
// answer has older events, and the service deletes them.

import { describe, expect, it } from 'vitest';
import { createClickHouse } from '../../platform/clickhouse/clickhouse.ts';
import { dayMs } from '../../platform/clock.ts';
import { createLog } from '../../platform/log.ts';
import { hasBrowser } from '../harness/clients/browser.ts';
import {
  batchCreate,
  call,
  eventually,
  listActivity,
  newEvent,
  untilCounted,
} from '../harness/clients/client.ts';
import { axe } from '../harness/web/accessibility.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs } from '../harness/web/web-app.ts';

const timeout = patienceMs;

describe.runIf(hasBrowser)('how long events are kept', () => {
  const app = useWebApp();

  it('is said before they go, and then they go', async () => {
    const { stack } = app;
    const nowMs = Date.now();
    const at = (ms: number) =>
      newEvent({ distinctId: 'ada', occurTime: new Date(ms).toISOString() });
    const sent = [at(nowMs - 40 * dayMs), at(nowMs)];
    const { status } = await batchCreate(stack, sent, { key: stack.privateKey });
    expect(status).toBe(200);
    await eventually(
      () => listActivity(stack, {}),
      (list) => list.events.length === sent.length,
    );
    await untilCounted(stack);
    const { page, faults } = await app.signedIn('/account');
    await page.goto(`${stack.baseUrl}/p/${stack.projectId}/settings`);
    const card = page.locator('section.card', { hasText: 'How long events are kept' });
    const save = card.getByRole('button', { name: 'Save' });
    await card.getByLabel('Days').fill('30');
    await card.getByText(/^All events up to 20\d\d-\d\d-\d\d \(UTC\) are in no answer/).waitFor();
    await expect.poll(() => save.isDisabled(), { timeout }).toBe(true);
    await card.getByLabel(/^Delete the events up to/).press('Space');
    await expect.poll(() => save.isDisabled(), { timeout }).toBe(false);
    expect(await axe(page)).toEqual([]);
    await save.press('Enter');
    await page.getByText('Saved', { exact: true }).waitFor();
    await card.getByText(/^All events up to/).waitFor({ state: 'detached' });

    const { body } = await eventually(
      () =>
        call(stack.baseUrl, '/shared.insights.v1.InsightsService/Query', stack.privateKey, {
          spec: { insightType: 'INSIGHT_TYPE_SEGMENTATION', events: [{ event: {} }] },
          timeRange: {
            from: new Date(nowMs - 60 * dayMs).toISOString(),
            to: new Date(nowMs + dayMs).toISOString(),
          },
        }),
      ({ body: { leftOut } }) => leftOut !== undefined,
    );
    expect(body).toMatchObject({
      segmentation: { total: 1 },
      leftOut: [{ reason: 'REASON_OLDER_THAN_RETENTION', before: expect.any(String) }],
    });
    const store = createClickHouse(stack.clickhouseUrl, {
      ...{ log: createLog('silent'), maxConnections: 1 },
    });
    const stored = async (): Promise<unknown> => {
      const query = 'SELECT count() FROM events';
      return (await store.query({ query, format: 'JSONCompactEachRow' })).json();
    };
    await expect.poll(stored, { timeout }).toEqual([['1']]);
    await store.close();
    expect(faults).toEqual([]);
  });
});
