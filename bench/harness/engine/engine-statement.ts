// Sends a statement to an engine directly, without the service and its client.

import { readServerUrl } from '../../../platform/clickhouse/server-url.ts';
import { askEngine } from '../../../test/harness/servers/engine-request.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { check } from '../../bench.ts';

/** Returns the engine's answer as text; throws where it is an error. */
export async function runStatement(
  { clickhouseUrl }: Pick<Stack, 'clickhouseUrl'>,
  sql: string,
): Promise<string> {
  const path = `/?database=${readServerUrl(clickhouseUrl).database}`;
  const { status, text } = await askEngine(clickhouseUrl, { path, body: sql });
  check(status === 200, `the engine answered ${status}: ${text}`);
  return text;
}
