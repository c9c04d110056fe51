// POST /sql alone on a port, over a real engine. The key is the project's id, and `none` opens nothing.

import type { Authentication } from '../../../platform/access/authenticate.ts';
import type { DatabaseClient } from '../../../platform/clickhouse/clickhouse.ts';
import { oneGroup } from '../../../platform/clickhouse/groups.ts';
import { type HttpServer, startHttp } from '../../../platform/http/http.ts';
import { createLog } from '../../../platform/log.ts';
import { type OpenOptions, openStatements } from '../../../query/statements/open-statements.ts';
import { createStatementRoute } from '../../../query/statements/statement-route.ts';

export interface StatementAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** ClickHouse's number of an error; 0 for none. */
  code: number;
}

export interface StatementServer {
  url: string;
  close(): Promise<void>;
  ask(projectId: string, sql: string, params?: Record<string, string>): Promise<StatementAnswer>;
}

const memoryBytes = 256 * 1_048_576;

export async function serveStatements(
  clickhouse: DatabaseClient,
  options: Partial<OpenOptions> = {},
): Promise<StatementServer> {
  const log = createLog('silent');
  const ofStore = { clickhouse: oneGroup(clickhouse), memoryBytes, log };
  const { groups, turns, limits } = openStatements({ ...ofStore, ...options });
  if (groups === undefined) throw new Error('there is a store');
  const route = createStatementRoute({
    authenticate: (_, { apiKey, authorization }) => opened(apiKey ?? bearer(authorization)),
    ...{ groups, turns, limits, log },
  });
  const server: HttpServer = await startHttp({
    ...{ host: '127.0.0.1', port: 0, nodeHttpRoutes: [route], serviceAliases: new Map() },
    connect: { routes: () => {} },
  });
  const url = `http://127.0.0.1:${server.port}`;
  return {
    url,
    close: () => server.close(0),
    async ask(projectId, sql, params = {}) {
      const response = await fetch(`${url}/sql?${new URLSearchParams(params)}`, {
        ...{ method: 'POST', body: sql, headers: { 'x-clickhouse-key': projectId } },
      });
      const { status, headers } = response;
      const code = Number(headers.get('x-clickhouse-exception-code') ?? 0);
      return { status, headers, text: await response.text(), code };
    },
  };
}

function bearer(authorization = ''): string {
  return authorization.replace(/^Bearer /, '') || 'none';
}

function opened(key: string): Authentication {
  if (key === 'none') {
    return { kind: 'refused', code: 'unauthenticated', message: 'the API key is not valid' };
  }
  // Several keys of one project: its id, a colon, and a name.
  const [projectId = ''] = key.split(':');
  const principal = { projectId, keyId: key, credential: 'private' as const };
  return { kind: 'ok', principal: { ...principal, organizationId: 'org' } };
}
