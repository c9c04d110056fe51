// The limits of the table of access on bodies: they hold after decompression, for every method and in every protocol.

import { gzipSync } from 'node:zlib';
import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import {
  compressionGzip,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  type GrpcTransportOptions,
} from '@connectrpc/connect-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AuthService } from '../../proto/gen/public/auth/v1/auth_pb.js';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  newCustomer,
  startAccounts,
} from '../../test/harness/services/accounts.ts';
import { accessTable } from './access-table.ts';

const broker = useBroker();
let accounts: AccountsProcess;
let credential: Record<string, string>;

beforeAll(async () => {
  accounts = await startAccounts({ brokerUrl: broker.url });
  const customer = await newCustomer(accounts);
  credential = bearer(customer, customer.projectId);
});

afterAll(() => accounts.close());

const MiB = 1_048_576;
// The router reads no larger JSON: events in JSON come on ingest's own route.
const limitOf = (method: string): number =>
  Math.min(MiB, accessTable.get(method)?.maxBodyBytes ?? 0);
const streamed = 'shared.profiles.v1.ProfilesService/List';
const streams = [
  streamed,
  'shared.profiles.v1.ProfilesService/GetDataSubject',
  'shared.activity.v1.ActivityService/Watch',
];
const unary = [...accessTable.keys()].filter((method) => !streams.includes(method));
// This customer is no super admin, and access is asked before a body is read.
const ofOperators = (method: string): boolean => method.startsWith('dashboard.operator.');

async function answer(method: string, body: Buffer | string, encoding = 'identity') {
  const response = await fetch(`${accounts.baseUrl}/${method}`, {
    method: 'POST',
    headers: {
      ...(method.startsWith('public.') ? {} : credential),
      'content-type': 'application/json',
      'content-encoding': encoding,
    },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  });
  return response.text();
}

it('are 64 KiB for methods of accounts, 256 KiB for reads and scheduled exports, 1 MiB for dashboards and parts of files', () => {
  for (const [method, { maxBodyBytes, credentials }] of accessTable) {
    if (/DashboardsService\/(Create|Update|Upsert)$|\/Upload$/.test(method)) {
      expect(maxBodyBytes, method).toBe(MiB);
    } else if (/^dashboard.*\/(Render|Measure)$|ExportSchedulesService\/Create$/.test(method))
      expect(maxBodyBytes, method).toBe(MiB / 4);
    else if (/^(public|dashboard)\./.test(method)) expect(maxBodyBytes, method).toBe(65_536);
    else if (!credentials.includes('public-key')) expect(maxBodyBytes, method).toBe(MiB / 4);
    else if (/(Identify|Alias)$/.test(method)) expect(maxBodyBytes, method).toBe(MiB / 2);
    else expect(maxBodyBytes, method).toBe(8 * MiB);
  }
});

it.each(unary)('%s refuses a few KiB of gzip that become too large', async (method) => {
  const body = gzipSync(`{"x":"${' '.repeat(8 * MiB)}"}`);
  expect(body.length).toBeLessThan(8_192);
  const refusal = JSON.parse(await answer(method, body, 'gzip'));
  if (ofOperators(method)) {
    expect(refusal).toMatchObject({ code: 'permission_denied' });
    return;
  }
  expect(refusal).toEqual({
    code: 'invalid_argument',
    message: `the body is larger than ${limitOf(method)} bytes`,
  });
});

it('hold for bodies as they are sent, and let a body of just that length pass', async () => {
  const method = 'public.auth.v1.AuthService/SignOut';
  const body = (length: number): string => `{"x":"${' '.repeat(length - 8)}"}`;
  expect(await answer(method, body(65_536))).toBe('{}');
  expect(await answer(method, body(65_537))).toContain('larger than 65536 bytes');
  expect(await answer(method, gzipSync(body(65_536)), 'gzip')).toBe('{}');
});

it('a body that cannot be decompressed is invalid, whole or not', async () => {
  const whole = gzipSync('{"email":"a@example.org"}');
  for (const body of [whole.subarray(0, -9), Buffer.from('no gzip')]) {
    const text = await answer('public.auth.v1.AuthService/SignIn', body, 'gzip');
    expect(text).toContain('invalid_argument');
  }
});

type Options = Pick<GrpcTransportOptions, 'baseUrl' | 'sendCompression' | 'compressMinBytes'>;

const json = { useBinaryFormat: false };
const protocols: Record<string, (options: Options) => Transport> = {
  'Connect, JSON': (options) => createConnectTransport({ ...options, ...json, httpVersion: '1.1' }),
  'Connect, binary': (options) =>
    createConnectTransport({ ...options, httpVersion: '2', useBinaryFormat: true }),
  'gRPC, JSON': (options) => createGrpcTransport({ ...options, ...json }),
  'gRPC, binary': createGrpcTransport,
  'gRPC-web, JSON': (options) =>
    createGrpcWebTransport({ ...options, ...json, httpVersion: '1.1' }),
  'gRPC-web, binary': (options) => createGrpcWebTransport({ ...options, httpVersion: '1.1' }),
};

it.each(Object.entries(protocols))('hold in %s', async (_, transport) => {
  const { baseUrl } = accounts;
  const sends = { baseUrl, sendCompression: compressionGzip, compressMinBytes: 1 };
  const client = createClient(AuthService, transport(sends));
  const refused = await client
    .signIn({ email: ' '.repeat(8 * MiB), password: 'x' })
    .catch((error: unknown) => ConnectError.from(error));
  expect(refused).toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'the body is larger than 65536 bytes',
  });
});
