// Real MCP clients of npm against the whole product: what an agent of theirs sees of our tools.

import { execFile } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSql } from '../../agents/run-sql.ts';
import { tools } from '../../agents/tools.ts';
import { batchCreate, eventually, listActivity, newEvent } from '../harness/clients/client.ts';
import { agentPackages, installPackages } from '../harness/sdks/packages.ts';
import { type Stack, startStack } from '../harness/servers/stack.ts';
import { root } from '../harness/source-tree.ts';

const script = 'agent-plays.mjs';
let folder: string;
let stack: Stack;

beforeAll(async () => {
  folder = installPackages(agentPackages);
  cpSync(join(root, 'test', 'harness', 'sdks', script), join(folder, script));
  stack = await startStack();
  await batchCreate(stack, [newEvent({ kind: 'signed_up' })], { key: stack.privateKey });
  await eventually(
    () => listActivity(stack, {}),
    ({ events }) => events.length === 1,
  );
});
afterAll(async () => {
  await stack?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

interface Played {
  tools: string[];
  schema: { isError?: boolean };
  refused: { isError?: boolean; content: { text: string }[] };
}

async function play(client: string, key: string): Promise<Played> {
  const args = [script, client, `${stack.baseUrl}/mcp`, key];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    ...{ cwd: folder, timeout: 60_000 },
  });
  return JSON.parse(stdout) as Played;
}

describe.each(['first', 'second', 'negotiating', 'vercel'])('the client %s', (client) => {
  it('sees all tools, an answer, and a refusal in words', async () => {
    const { tools: seen, schema, refused } = await play(client, stack.privateKey);
    expect(seen).toEqual([...tools.map(({ name }) => name), runSql.name]);
    expect(JSON.stringify(schema)).toContain('signed_up');
    expect(refused.isError).toBe(true);
    expect(refused.content[0]?.text).toBe('invalid_argument: timeRange.from: is required');
  });

  it('is told which key to send', async () => {
    await expect(play(client, 'prv_wrong')).rejects.toThrow(/x-api-key|401/);
  });
});
