// ImportsService as a program has it that signs in as a customer: a file is sent in parts, and states are waited for.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, type JsonObject } from '../../../platform/json.ts';
import type { Stack } from '../servers/stack.ts';
import { call, eventually } from './client.ts';

const partBytes = 262_144;
const failed = 'IMPORT_STATE_FAILED';

export interface ImportClient {
  /** Answers the method's JSON; throws its code and message. */
  ask(method: string, message: object, service?: string): Promise<JsonObject>;
  /** The project's imports, the newest first. */
  list(): Promise<JsonObject[]>;
  /** Announces a file and sends it; answers the import's id. */
  upload(fileName: string, content: Buffer, more?: object): Promise<string>;
  /** The import once it has one of the states; throws where it fails instead. */
  until(id: string, ...states: string[]): Promise<JsonObject>;
}

/** As the demo's admin. */
export async function importClient(
  stack: Pick<Stack, 'baseUrl' | 'dataDir' | 'projectId'>,
): Promise<ImportClient> {
  const { baseUrl, dataDir, projectId } = stack;
  const file = readFileSync(join(dataDir, 'demo-admin.json'), 'utf8');
  const { adminEmail: email, adminPassword: password } = JSON.parse(file);
  const signedIn = await call(baseUrl, '/public.auth.v1.AuthService/SignIn', '', {
    email,
    password,
  });
  const authorization = `Bearer ${signedIn.body['accessToken']}`;
  const headers = { authorization, 'x-project-id': projectId };
  const ask: ImportClient['ask'] = async (
    method,
    message,
    service = 'dashboard.imports.v1.ImportsService',
  ) => {
    const path = `/${service}/${method}`;
    const { status, body } = await call(baseUrl, path, '', message, headers);
    if (status === 200) return body;
    throw new Error(`${method}: ${body['code']}: ${body['message']}`);
  };
  const list = async (): Promise<JsonObject[]> => {
    const { imports = [] } = await ask('List', {});
    return Array.isArray(imports) ? imports.filter(isObject) : [];
  };
  return {
    ask,
    list,
    async upload(fileName, content, more = {}) {
      const made = await ask('Create', { fileName, bytes: content.length, ...more });
      const id = String(Object(made['import']).id);
      for (let offset = 0; offset < content.length; offset += partBytes) {
        const data = content.subarray(offset, offset + partBytes).toString('base64');
        await ask('Upload', { id, offset, data });
      }
      return id;
    },
    async until(id, ...states) {
      const find = async () => (await list()).find((one) => one['id'] === id);
      const stateOf = (one: JsonObject | undefined) => String(one?.['state']);
      const isThere = (one: JsonObject | undefined) => [...states, failed].includes(stateOf(one));
      const found = await eventually(find, isThere, 120_000);
      if (found !== undefined && states.includes(stateOf(found))) return found;
      throw new Error(`the import failed: ${found?.['fault']}`);
    },
  };
}
