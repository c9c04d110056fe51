// The fast path of plain requests beside its reference, node:http: a server with both paths and a server with node:http
// alone echo what they understood, are sent the same bytes and must answer the same.

import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dial } from '../../test/harness/clients/dial.ts';
import { type HttpServer, startHttp } from './http.ts';
import type { HttpAnswer, PlainRequestRoute } from './plain/plain-request.ts';

const atOnce = 100;
const large = 1_048_576;

/** Holds back the answers of a path until the test opens its gate. */
const gates = new Map<string, Promise<void>>();
/** Requests that the fast path served. */
let served = 0;

function echo(
  method: string,
  target: string,
  headers: Readonly<Record<string, unknown>>,
  body: Buffer,
): string {
  const digest = createHash('sha256').update(body).digest('hex');
  return JSON.stringify([method, target, headers, body.length, digest]);
}

const plainRequestRoute: PlainRequestRoute = ({ path, query, headers, bodyBytes }) => {
  if (!path.startsWith('/plain')) return undefined;
  const answer = async (body: Buffer): Promise<HttpAnswer | undefined> => {
    expect(body.length).toBe(bodyBytes);
    served++;
    await gates.get(path);
    if (path === '/plain/nobody') return undefined;
    if (path === '/plain/large') return { status: 200, headers: {}, body: 'x'.repeat(large) };
    const text = echo('POST', query === '' ? path : `${path}?${query}`, headers, body);
    return { status: 200, headers: { 'content-length': Buffer.byteLength(text) }, body: text };
  };
  return { holder: 'a key', answer };
};

function echoRoute(request: IncomingMessage, response: ServerResponse): boolean {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.once('end', () => {
    const { method = '', url = '', headers } = request;
    const text = echo(method, url, headers, Buffer.concat(chunks));
    response.writeHead(200, { 'content-length': Buffer.byteLength(text) });
    response.end(text);
  });
  request.on('error', () => {});
  return true;
}

function start(hasFastPath: boolean, arrival?: { requestMs: number; headersMs: number }) {
  return startHttp({
    ...{ host: '127.0.0.1', port: 0, nodeHttpRoutes: [echoRoute], serviceAliases: new Map() },
    connect: { routes: () => {} },
    pathAliases: new Map([['/short', '/plain/long']]),
    ...(hasFastPath && { plainRequestRoute }),
    ...(arrival && { arrival }),
  });
}

let both: HttpServer;
let reference: HttpServer;
beforeAll(async () => {
  // A request whose bytes never come whole ends only after the time that a request may take.
  const arrival = { requestMs: 1_500, headersMs: 1_000 };
  [both, reference] = await Promise.all([start(true, arrival), start(false, arrival)]);
});
afterAll(() => Promise.all([both.close(0), reference.close(0)]));

/** The statuses and bodies that answer these bytes, after which the server must close the connection. */
async function answersTo(port: number, pieces: readonly Buffer[], first = ''): Promise<string[]> {
  const { socket, received, closed } = dial(port);
  if (first !== '') {
    socket.write(first);
    await expect.poll(received, { interval: 5 }).toContain('200 OK');
  }
  for (const piece of pieces) await new Promise((resolve) => socket.write(piece, resolve));
  await closed;
  return statusesAndBodies(received());
}

function statusesAndBodies(text: string): string[] {
  return text
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .map((one) => `${one.slice(9, 12)} ${one.slice(one.indexOf('\r\n\r\n') + 4)}`);
}

const post = (body: string, ...fields: string[]): string =>
  ['POST /plain HTTP/1.1', 'Host: a', `Content-Length: ${body.length}`, ...fields, '', body].join(
    '\r\n',
  );
const last = 'GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

async function compare(text: string, cuts: readonly number[] = [], first = ''): Promise<string[]> {
  const bytes = Buffer.from(text + last, 'latin1');
  const ends = [...cuts].filter((cut) => cut < bytes.length).sort((a, b) => a - b);
  const pieces = [...ends, bytes.length].map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
  const [ours, theirs] = await Promise.all([
    answersTo(both.port, pieces, first),
    answersTo(reference.port, [bytes], first),
  ]);
  // At a broken request, node:http forgets earlier requests that it has not answered yet.
  const isCut = theirs.length < ours.length && /^4\d\d /.test(theirs[0] ?? '');
  expect(isCut ? ours.slice(-theirs.length) : ours).toEqual(theirs);
  return ours;
}

const request = 'POST /plain HTTP/1.1\r\nHost: a\r\n';

describe('a request', () => {
  it('is served on the fast path where it is plain', async () => {
    const before = served;
    const heads = [
      post('{}', 'Content-Type: application/json', 'X-Api-Key:  pub_1 \t', 'Empty:'),
      post('{}', 'Connection: Keep-Alive', 'User-Agent: a:b, c; "d" (e)'),
      post(''),
      `${request}content-length: 0002\r\n\r\nab`,
      'POST /short?a=b HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\nx',
      'POST /plain/a?b?c=%20 HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\nx',
    ];
    for (const head of heads) {
      const bodies = await compare(head + head);
      expect(bodies).toHaveLength(3);
    }
    expect(served - before).toBe(2 * heads.length);
  });

  it.each([
    ['another method', 'PUT /plain HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx'],
    ['another path', 'POST /other HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx'],
    ['an absolute target', 'POST http://a/plain HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx'],
    ['HTTP/1.0', 'POST /plain HTTP/1.0\r\nHost: a\r\nContent-Length: 1\r\n\r\nx'],
    ['chunks', `${request}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n`],
    [
      'chunks and a length',
      `${request}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n`,
    ],
    ['two lengths', `${request}Content-Length: 1\r\nContent-Length: 1\r\n\r\nx`],
    ['two lengths that differ', `${request}Content-Length: 1\r\nContent-Length: 2\r\n\r\nx`],
    ['a list of lengths', `${request}Content-Length: 1, 1\r\n\r\nx`],
    ['a length with a sign', `${request}Content-Length: +1\r\n\r\nx`],
    ['a length in hex', `${request}Content-Length: 0x1\r\n\r\nx`],
    ['no length', `${request}\r\n`],
    ['no host', 'POST /plain HTTP/1.1\r\nContent-Length: 1\r\n\r\nx'],
    ['a field twice', post('x', 'X-A: 1', 'x-a: 2')],
    ['a folded field', post('x', 'X-A: 1', ' 2')],
    ['a space before the colon', post('x', 'X-A : 1')],
    ['a field without a name', post('x', ': 1')],
    ['a field without a colon', post('x', 'X-A')],
    ['a bare line feed', `POST /plain HTTP/1.1\nHost: a\nContent-Length: 1\n\nx`],
    ['a line feed in a field', post('x', 'X-A: 1\nX-B: 2')],
    ['a carriage return in a field', post('x', 'X-A: 1\rX-B: 2')],
    ['a zero byte in a field', post('x', 'X-A: 1\0')],
    ['bytes beyond ASCII', post('x', 'X-A: \xe4')],
    ['a name with an underscore', post('x', 'X_A: 1')],
    ['names of every object', post('x', 'Constructor: 1', 'ToString: 2')],
    ['a connection to be closed', post('x', 'Connection: close')],
    ['an expectation', post('x', 'Expect: 100-continue')],
    ['an encoding', post('x', 'Content-Encoding: gzip')],
    ['a head that is too long', post('x', `X-A: ${'a'.repeat(20_000)}`)],
    ['an empty line before it', `\r\n${post('x')}`],
    ['nothing at all', ''],
  ])('with %s gets the answer of node:http', async (_name, text) => {
    await compare(text);
    await compare(text, [], post('first'));
    await compare(text, [1, 5, 20, 40]);
  });

  it('means the same on both paths, however it is mutated', async () => {
    const source = `${post('{"a":1}', 'Content-Type: application/json', 'X-Api-Key: pub_1')}`;
    const patches = [
      '\r',
      '\n',
      '\r\n',
      ' ',
      '\t',
      ':',
      ',',
      '\0',
      '0',
      '9',
      '\x7f',
      '\xff',
      'a',
      '',
    ];
    patches.push(
      'Transfer-Encoding: chunked\r\n',
      'Content-Length: 3\r\n',
      'Connection: close\r\n',
    );
    const change = fc.record({
      at: fc.nat(source.length),
      without: fc.nat(3),
      patch: fc.constantFrom(...patches),
    });
    const changed = fc.array(change, { maxLength: 2 }).map((changes) => {
      let text = source;
      for (const { at, without, patch } of changes) {
        text = text.slice(0, at) + patch + text.slice(at + without);
      }
      return text;
    });
    // Bytes beyond the length begin the next request; a body shorter than its length takes bytes of the request behind.
    const texts = fc.sample(changed, { numRuns: 600, seed: 4_091 });
    for (let from = 0; from < texts.length; from += atOnce) {
      await Promise.all(
        texts.slice(from, from + atOnce).map((text) => compare(text + post('after'))),
      );
    }
  });
});

describe('a body', () => {
  it('arrives whole in any pieces', async () => {
    const body = 'x'.repeat(300);
    const text = post(body) + post('y') + post(body);
    const before = served;
    await compare(text, [60, 61, 120, 380, 381, 400, 500]);
    // The first head came whole, so the fast path served all three.
    expect(served - before).toBe(3);
  });

  it.each([131_072, 131_073, 1_048_576, 1_048_577])(
    'of %i bytes arrives unchanged',
    async (size) => {
      await compare(post('x'.repeat(size)) + post('y'.repeat(size)));
    },
  );

  it('is never mixed up with another body in the same memory', async () => {
    const bodies = Array.from({ length: 40 }, (_, index) => {
      return String.fromCharCode(0x41 + index).repeat(70_000 + index);
    });
    const lines = bodies.map((body) => ({ ...dial(both.port), bytes: Buffer.from(post(body)) }));
    for (let round = 1; round <= 3; round++) {
      for (const { socket, bytes } of lines) socket.write(bytes.subarray(0, 40_000));
      // The server has read all earlier bytes once it answers a later request on another connection.
      await answersTo(both.port, [Buffer.from(post('x') + last)]);
      for (const { socket, bytes } of lines) socket.write(bytes.subarray(40_000));
      for (const [index, { received }] of lines.entries()) {
        const digest = createHash('sha256')
          .update(bodies[index] ?? '')
          .digest('hex');
        await expect.poll(() => received().split(digest).length - 1).toBe(round);
      }
    }
    for (const { socket } of lines) socket.destroy();
  });

  it('that drips in ends with 408', async () => {
    const server = await start(true, { requestMs: 300, headersMs: 200 });
    const { socket, received, closed } = dial(server.port);
    socket.write('POST /plain HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n');
    const dripping = setInterval(() => socket.write('x'), 20);
    await closed;
    clearInterval(dripping);
    expect(received()).toMatch(/^HTTP\/1.1 408 /);
    await server.close(0);
  });
});

describe('a connection', () => {
  it('that sends nothing is closed', async () => {
    const server = await start(true, { requestMs: 300, headersMs: 200 });
    const { received, closed } = dial(server.port);
    await closed;
    expect(received()).toBe('');
    await server.close(0);
  });

  it('whose request gets no answer is closed', async () => {
    const { socket, received, closed } = dial(both.port);
    socket.write('POST /plain/nobody HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n');
    await closed;
    expect(received()).toBe('');
  });

  it('whose state is broken is closed, and the others go on', async () => {
    const errors: unknown[] = [];
    const server = await startHttp({
      host: '127.0.0.1',
      port: 0,
      nodeHttpRoutes: [echoRoute],
      plainRequestRoute(head, peerAddress) {
        if (head.path === '/plain/broken') throw new Error('broken');
        return plainRequestRoute(head, peerAddress);
      },
      connect: { routes: () => {} },
      serviceAliases: new Map(),
      onBrokenConnection: (error) => errors.push(error),
    });
    const good = dial(server.port);
    good.socket.write(post('x'));
    const broken = dial(server.port);
    broken.socket.write(post('x') + post('x').replace('/plain', '/plain/broken') + post('x'));
    await broken.closed;
    expect(statusesAndBodies(broken.received())).toHaveLength(1);
    expect(errors).toEqual([new Error('broken')]);
    good.socket.write(post('x'));
    await expect.poll(() => statusesAndBodies(good.received()).length).toBe(2);
    await server.close(0);
  });

  it('that does not read its answers gets no more of them', async () => {
    const sent = 100;
    const { socket, received } = dial(both.port);
    socket.pause();
    const before = served;
    socket.write(post('x').replace('/plain', '/plain/large').repeat(sent));
    await expect.poll(() => served - before).toBeGreaterThan(0);
    const answered = await settled(() => served - before);
    expect(answered).toBeGreaterThan(0);
    expect(answered).toBeLessThan(sent);
    socket.resume();
    await expect.poll(() => received().length).toBeGreaterThan(sent * large);
    expect(served - before).toBe(sent);
    socket.destroy();
  });
});

/** Resolves to the number once it stays the same for 200 ms. */
async function settled(read: () => number): Promise<number> {
  for (let known = -1; ; ) {
    const next = read();
    if (next === known) return known;
    known = next;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
