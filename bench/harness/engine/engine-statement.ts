// Sends a statement to an engine directly, without the service and its client.

import type { Stack } from '../../../test/harness/servers/stack.ts';
import { check } from '../../bench.ts';

/** Returns the engine's answer as text; throws where it is an error. */
export async function runStatement(
  { clickhouseUrl }: Pick<Stack, 'clickhouseUrl'>,
  sql: string,
): Promise<string> {
  const { origin, pathname } = new URL(clickhouseUrl);
  const url = `${origin}/?database=${pathname.slice(1)}`;
  const response = await fetch(url, { method: 'POST', body: sql });
  const text = await response.text();
  check(response.ok, `the engine answered ${response.status}: ${text}`);
  return text;
}
