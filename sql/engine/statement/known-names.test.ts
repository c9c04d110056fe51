import { expect, it } from 'vitest';
import { askEngine } from '../../../test/harness/servers/engine-request.ts';
import { useEngine } from '../../../test/harness/servers/use-servers.ts';
import { knownRefusedNames } from './known-names.ts';
import { readRefusedNames, refusedNames } from './reach.ts';

const engine = useEngine({ migrated: false });

it('the known names are those of the engine, and of no other version', async () => {
  const ask = async (sql: string): Promise<string> => {
    const path = '/?default_format=TabSeparated';
    const { status, text } = await askEngine(engine.url, { path, body: sql });
    expect(status, text).toBe(200);
    return text;
  };
  const version = (await ask('SELECT version()')).trim();
  expect(knownRefusedNames(version)).toEqual(readRefusedNames(await ask(refusedNames)));
  expect(knownRefusedNames(`${version}.1`)).toBeUndefined();
});
