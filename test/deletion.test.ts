// A project plays in the whole product and is deleted, and the service is killed at that moment: its key opens nothing,
// and soon no table, no file of an export and no view has a word of it. The others' rows stay.

import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { batchCreate, eventually, newEvent, rows } from './harness/clients/client.ts';
import { type Customer, newCustomer } from './harness/clients/new-customer.ts';
import { removeFolder } from './harness/remove-folder.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'millrace-deletion-'));
let stack: Stack;
let customer: Customer;
beforeAll(async () => {
  stack = await startStack({ dataDir });
  customer = await newCustomer(stack.baseUrl);
});
afterAll(async () => {
  await stack?.stop();
  await removeFolder(dataDir);
});

const visitor = 'ada-x7k2q9w4';
const projects = 'dashboard.projects.v1.ProjectsService';
const deletionMs = 150_000;
const tokenOf = ({ headers }: Customer) => ({ authorization: headers.authorization });

/** By the customer's session, on the service as it runs now. */
async function ask(method: string, message: object, headers: Record<string, string>) {
  const response = await fetch(`${stack.baseUrl}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(message),
  });
  const body: Record<string, unknown> = JSON.parse(await response.text());
  return { status: response.status, body };
}

async function count(sql: string): Promise<number> {
  const [row] = await rows<{ n: number }>(stack.clickhouseUrl, `SELECT count() AS n FROM ${sql}`);
  return row?.n ?? -1;
}

/** Every table with a row that has the text. */
async function tablesWith(text: string): Promise<string[]> {
  const parts = await rows<{ table: string }>(
    stack.clickhouseUrl,
    'SELECT DISTINCT table FROM system.parts WHERE database = currentDatabase() AND active',
  );
  const found: string[] = [];
  for (const { table } of parts) {
    const sql = `(SELECT toString(tuple(*)) AS row FROM ${table}) WHERE position(row, '${text}') > 0`;
    if ((await count(sql)) > 0) found.push(table);
  }
  expect(parts.length).toBeGreaterThan(5);
  return found;
}

async function play(projectId: string): Promise<void> {
  const events = ['page_view', 'purchase', 'page_view'].map((kind) =>
    newEvent({ kind, distinctId: visitor }),
  );
  expect((await batchCreate(stack, events, { key: customer.key })).status).toBe(200);
  const others = [newEvent({ distinctId: 'bob' })];
  expect((await batchCreate(stack, others)).status).toBe(200);
  await eventually(
    () => count('events'),
    (n) => n === 4,
  );
  const exports = 'shared.exports.v1.ExportsService';
  const query = { what: 'EXPORT_WHAT_EVENTS', format: 'EXPORT_FORMAT_CSV' };
  expect((await ask(`${exports}/Create`, { query }, customer.headers)).status).toBe(200);
  await eventually(
    async () => JSON.stringify((await ask(`${exports}/List`, {}, customer.headers)).body),
    (text) => text.includes('EXPORT_STATE_READY'),
  );
  expect(existsSync(join(stack.dataDir, 'exports', projectId))).toBe(true);
  const statement = await fetch(`${stack.baseUrl}/sql`, {
    method: 'POST',
    headers: customer.headers,
    body: 'SELECT count() FROM events FORMAT TSV',
  });
  expect([statement.status, (await statement.text()).trim()]).toEqual([200, '3']);
}

it('leaves nothing of a deleted project, though the service is killed', async () => {
  const { headers } = customer;
  const id = headers['x-project-id'];
  const [project] = (await ask(`${projects}/List`, {}, tokenOf(customer))).body[
    'projects'
  ] as Record<string, string>[];
  const { orgId = '', displayName = '' } = project ?? {};
  await play(id);
  expect(await tablesWith(id)).toContain('events');
  const asked = await ask(`${projects}/Delete`, { orgId, id, displayName }, tokenOf(customer));
  expect(asked.status).toBe(200);
  const refused = await batchCreate(stack, [newEvent({})], { key: customer.key });
  expect(refused.status).toBe(401);

  stack.kill9('service');
  stack = await stack.restart();
  const listed = await eventually(
    async () => (await ask(`${projects}/ListDeletions`, { orgId }, tokenOf(customer))).body,
    (body) => JSON.stringify(body).includes('completeTime'),
    deletionMs,
  );
  expect(listed['deletions']).toMatchObject([{ projectId: id, events: '3' }]);
  expect(JSON.stringify(listed)).not.toContain(displayName);
  for (const text of [id, visitor]) expect(await tablesWith(text), text).toEqual([]);
  expect(await count(`system.tables WHERE database = 'sql_${id}'`)).toBe(0);
  expect(await count(`events WHERE project_id = '${stack.projectId}'`)).toBe(1);
  await expect
    .poll(() => existsSync(join(stack.dataDir, 'exports', id)), { timeout: deletionMs })
    .toBe(false);
  expect((await ask(`${projects}/List`, {}, tokenOf(customer))).body).toEqual({ projects: [] });
});
