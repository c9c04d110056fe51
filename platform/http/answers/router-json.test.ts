// The Connect router's JSON over real HTTP, for every method of the definitions: the handlers here answer with empty
// messages.

import { type DescMethod, ScalarType } from '@bufbuild/protobuf';
import { Code, ConnectError, type ConnectRouter } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ActivityService } from '../../../proto/gen/shared/activity/v1/activity_pb.js';
import { definedServices } from '../../../test/harness/defined-services.ts';
import { boundedByIngest } from '../../access/request-bounds.ts';
import { type HttpServer, startHttp } from '../http.ts';

const services = await definedServices();
const methods = services.flatMap((service) =>
  service.methods.map((method): [string, DescMethod] => [
    `/${service.typeName}/${method.name}`,
    method,
  ]),
);
const listsOf = ({ output }: DescMethod): string[] =>
  output.fields.filter(({ fieldKind }) => fieldKind === 'list').map(({ jsonName }) => jsonName);
const answered = methods.filter(([, method]) => listsOf(method).length > 0);

async function* oneMessage(): AsyncGenerator<object> {
  yield {};
}

function registerAll(router: ConnectRouter): void {
  for (const service of services) {
    const handlers = service.methods.map(({ localName, methodKind }) => [
      localName,
      methodKind === 'server_streaming' ? oneMessage : () => ({}),
    ]);
    // The types of all services' handlers together are nobody's.
    Reflect.apply(router.service, router, [service, Object.fromEntries(handlers)]);
  }
}

function start(routes: (router: ConnectRouter) => void): Promise<HttpServer> {
  const options = { host: '127.0.0.1', port: 0, nodeHttpRoutes: [], serviceAliases: new Map() };
  return startHttp({ ...options, connect: { routes } });
}

let server: HttpServer;
beforeAll(async () => {
  server = await start(registerAll);
});
afterAll(() => server.close(0));

const post = (port: number, path: string, body: string | Uint8Array, contentType: string) =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': contentType },
    body,
  });

/** The JSON of the first message of an answer. */
async function answerOf(path: string, { methodKind }: DescMethod): Promise<unknown> {
  if (methodKind === 'unary') {
    return (await post(server.port, path, '{}', 'application/json')).json();
  }
  const envelope = Buffer.from('\0\0\0\0\x02{}');
  const answer = await post(server.port, path, envelope, 'application/connect+json');
  const bytes = Buffer.from(await answer.arrayBuffer());
  return JSON.parse(bytes.toString('utf8', 5, 5 + bytes.readUInt32BE(1)));
}

describe('a list in an answer', () => {
  it('is in the answers of all methods that list', () => {
    expect(answered.map(([path]) => path)).toEqual(
      expect.arrayContaining([
        '/shared.profiles.v1.ProfilesService/List',
        '/shared.activity.v1.ActivityService/List',
        '/dashboard.projects.v1.ProjectsService/ListApiKeys',
      ]),
    );
    expect(answered.length).toBeGreaterThan(7);
  });

  it.each(answered)('is there when it is empty: %s', async (path, method) => {
    const empty = Object.fromEntries(listsOf(method).map((name) => [name, []]));
    expect(await answerOf(path, method)).toEqual(empty);
  });

  it('comes before the other fields, as when it is not empty', async () => {
    const paged = await start((router) =>
      router.rpc(ActivityService.method.list, (request) => ({
        events: request.pageSize === 1 ? [{ kind: 'k' }] : [],
        nextPageToken: 'next',
      })),
    );
    const path = '/shared.activity.v1.ActivityService/List';
    const list = async (body: string) =>
      (await post(paged.port, path, body, 'application/json')).text();
    expect(await list('{}')).toBe('{"events":[],"nextPageToken":"next"}');
    expect(await list('{"pageSize":1}')).toBe('{"events":[{"kind":"k"}],"nextPageToken":"next"}');
    await paged.close(0);
  });
});

describe('a request of another shape', () => {
  const texts = new Set([ScalarType.STRING, ScalarType.BYTES]);
  const own = methods.filter(
    ([, { input, methodKind }]) => methodKind === 'unary' && !boundedByIngest.has(input.typeName),
  );

  it.each(own)('is told the path, not the name of a message: %s', async (path, { input }) => {
    const refusal = async (body: string): Promise<string> => {
      const answer = await post(server.port, path, body, 'application/json');
      return JSON.parse(await answer.text()).message;
    };
    expect(await refusal('5')).toBe('body: must be an object');
    for (const field of input.fields) {
      // No field takes both; bytes are texts, too.
      const isText = field.fieldKind === 'scalar' && texts.has(field.scalar);
      const body = JSON.stringify({ [field.jsonName]: isText ? 5 : 'no such value' });
      expect((await refusal(body)).split(': ')[0]).toBe(field.jsonName);
    }
  });
});

describe('all other methods', () => {
  it('answer as before', async () => {
    for (const [path, method] of methods) {
      if (listsOf(method).length === 0) expect(await answerOf(path, method)).toEqual({});
    }
  });

  it('are unimplemented where a service has no handler for them', async () => {
    const [service] = services;
    if (service === undefined) throw new Error('there is no service');
    const bare = await start((router) => router.service(service, {}));
    for (const { name } of service.methods) {
      const answer = await post(
        bare.port,
        `/${service.typeName}/${name}`,
        '{}',
        'application/json',
      );
      expect(answer.status).toBe(501);
    }
    await bare.close(0);
  });
});

describe('a body that is no JSON', () => {
  it.each(methods.filter(([, { methodKind }]) => methodKind === 'unary'))(
    'is refused with the place of its fault: %s',
    async (path) => {
      const answer = await post(server.port, path, '{"a":tru}', 'application/json');
      expect(await answer.json()).toEqual({
        code: 'invalid_argument',
        message: 'body: must be valid JSON, the fault is at byte 8, counted from 0',
      });
    },
  );
});

describe('an answer that the service is away', () => {
  it('says when to ask again, unless its method does', async () => {
    const away = await start((router) =>
      router.rpc(ActivityService.method.list, ({ pageToken }) => {
        const error = new ConnectError('away', Code.Unavailable);
        if (pageToken !== '') error.metadata.set('retry-after', pageToken);
        throw error;
      }),
    );
    const path = '/shared.activity.v1.ActivityService/List';
    for (const [body, seconds] of [
      ['{}', '1'],
      ['{"pageToken":"9"}', '9'],
    ] as const) {
      const answer = await post(away.port, path, body, 'application/json');
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, seconds]);
    }
    await away.close(0);
  });
});
