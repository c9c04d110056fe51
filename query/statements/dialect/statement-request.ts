// One request in ClickHouse's HTTP dialect: the statement in the body or in the URL, or a part in each, its settings,
// parameters and format, and the credential in any of the forms that clients send.

import type { IncomingHttpHeaders } from 'node:http';
import type { Credentials } from '../../../platform/access/authenticate.ts';
import { codes, notAllowed, StatementRefusal } from '../refusal.ts';
import { databaseNames } from '../views/catalogue.ts';
import { putSetting, type StatementBounds, shown } from './settings.ts';

export interface StatementAsked {
  /** With the URL's part first. */
  sql: string;
  /** Of the URL; those of the text come later. */
  settings: Map<string, string>;
  /** Values of {name:Type}, as ClickHouse's HTTP interface has them. */
  params: ReadonlyMap<string, string>;
  /** Unless the text names one. */
  format: string;
  /** Letters, digits and - alone; '' for none. */
  queryId: string;
  gzips: boolean;
  /** Wants ClickHouse's own packed blocks (JDBC). */
  packs: boolean;
  /** A client of the native protocol over HTTP (clickhouse-go) wants the form of its first answer. */
  protocolVersion: string;
}

const maxParams = 100;

/** Throws StatementRefusal. */
export function readAsked(
  query: string,
  headers: IncomingHttpHeaders,
  body: string,
  bounds: StatementBounds,
): StatementAsked {
  const params = new Map<string, string>();
  const settings = new Map<string, string>();
  const asked: StatementAsked = {
    ...{
      sql: '',
      settings,
      params,
      format: textOf(headers['x-clickhouse-format']) || 'TabSeparated',
    },
    ...{ queryId: '', gzips: false, packs: false, protocolVersion: '' },
  };
  checkDatabase(textOf(headers['x-clickhouse-database']) ?? '');
  for (const [name, value] of new URLSearchParams(query)) {
    if (name === 'query') asked.sql = value;
    else if (name === 'query_id') asked.queryId = value.replace(/[^\w-]/g, '').slice(0, 64);
    else if (name === 'database') checkDatabase(value);
    else if (name === 'default_format') asked.format = value;
    else if (name.startsWith('param_')) params.set(name.slice('param_'.length), value);
    else if (name === 'compress') asked.packs = value === '1';
    else if (name === 'decompress') continue;
    else if (name === 'enable_http_compression') asked.gzips = value === '1' && takesGzip(headers);
    else if (name === 'user' || name === 'password') refuseInUrl(name);
    else if (name === 'project' || name === 'x-project-id') continue;
    else {
      if (name === 'client_protocol_version') asked.protocolVersion = value;
      putSetting(settings, name, value, bounds);
    }
  }
  if (params.size > maxParams) throw notAllowed(`a statement has at most ${maxParams} parameters`);
  asked.sql = [asked.sql, body].filter((part) => part.trim() !== '').join('\n');
  return asked;
}

/** Whether the body is in ClickHouse's own packed blocks. */
export function isPacked(query: string): boolean {
  return new URLSearchParams(query).get('decompress') === '1';
}

function checkDatabase(name: string): void {
  if (name === '' || name === 'system' || databaseNames.has(name)) return;
  throw notAllowed(`there is no database ${shown(name)}: there is millrace`);
}

function refuseInUrl(name: string): never {
  throw new StatementRefusal(
    codes.credential,
    `Authentication failed: ${name} is not taken from a URL, which lands in logs: send it as a header`,
  );
}

function takesGzip(headers: IncomingHttpHeaders): boolean {
  return /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''));
}

/**
 * The service's own: x-api-key, or a token as bearer. Of a database's client: the key as password of Basic, or as
 * X-ClickHouse-Key; the user may be anything.
 */
export function credentialsOf(headers: IncomingHttpHeaders): Credentials {
  const authorization = headers.authorization ?? '';
  const [scheme = '', sent = ''] = authorization.split(' ', 2);
  const pair = scheme.toLowerCase() === 'basic' ? Buffer.from(sent, 'base64').toString() : '';
  const password = pair.includes(':') ? pair.slice(pair.indexOf(':') + 1) : undefined;
  return {
    apiKey: textOf(headers['x-api-key']) ?? textOf(headers['x-clickhouse-key']) ?? password,
    authorization: password === undefined ? authorization || undefined : undefined,
    projectIdHeader: textOf(headers['x-project-id']),
  };
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && header !== '' ? header : undefined;
}
