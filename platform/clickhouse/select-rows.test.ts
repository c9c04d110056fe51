import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { ClickHouseError } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { createLog } from '../log.ts';
import { createClickHouse, type DatabaseClient } from './clickhouse.ts';
import { lackOfMemory, type Select } from './select-rows.ts';

const log = createLog('silent');
const engine = useEngine();
let client: DatabaseClient;
beforeAll(async () => {
  client = createClickHouse(engine.url, { log, maxConnections: 4 });
});
afterAll(async () => {
  await client.close();
});

function selectOf(sql: string, fields: Partial<Select> = {}): Select {
  return { sql, params: {}, settings: {}, signal: new AbortController().signal, ...fields };
}

async function rowsOf(select: Select, from = client): Promise<unknown[][]> {
  const rows: unknown[][] = [];
  await from.select(select, (text) => {
    rows.push(JSON.parse(text));
    return true;
  });
  return rows;
}

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => {
      throw new Error('expected a failure');
    },
    (error) => error,
  );
}

describe('parameters', () => {
  const texts = [
    '',
    'a',
    "it's",
    'back\\slash \\n',
    'tab\t\r\n',
    '{x:String}',
    'é漢字🎉',
    'a&b=c%20+',
  ];

  it('carry texts unchanged, alone and in arrays', async () => {
    for (const text of texts) {
      expect(await rowsOf(selectOf('SELECT {text:String}', { params: { text } }))).toEqual([
        [text],
      ]);
    }
    const select = selectOf('SELECT {texts:Array(String)}', { params: { texts } });
    expect(await rowsOf(select)).toEqual([[texts]]);
  });

  it('carry numbers exactly', async () => {
    const params = {
      int: -(2n ** 63n),
      ints: [2n ** 63n - 1n, 0n],
      double: 5e-324,
      doubles: [0.1],
    };
    const settings = { output_format_json_quote_64bit_integers: 1 };
    const sql =
      'SELECT {int:Int64}, {ints:Array(Int64)}, {double:Float64}, {doubles:Array(Float64)}';
    expect(await rowsOf(selectOf(sql, { params, settings }))).toEqual([
      ['-9223372036854775808', ['9223372036854775807', '0'], 5e-324, [0.1]],
    ]);
  });

  it('are refused where they have no text form', async () => {
    const select = selectOf('SELECT 1', { params: { odd: {} } });
    await expect(rowsOf(select)).rejects.toThrow('a object cannot be a parameter');
  });

  it('reach the database of the client', async () => {
    expect(await rowsOf(selectOf('SELECT currentDatabase()'))).toEqual([['millrace']]);
  });
});

describe('rows', () => {
  it('arrive whole, however long and many they are', async () => {
    const sql = "SELECT number, repeat('x', number % 7 * 30000) FROM numbers(500)";
    const rows = await rowsOf(selectOf(sql));
    expect(rows.map(([, text]) => String(text).length)).toEqual(
      Array.from({ length: 500 }, (_, index) => (index % 7) * 30_000),
    );
  });

  it('stop once they are not wanted, and the next read still works', async () => {
    let seen = 0;
    await client.select(selectOf('SELECT number FROM system.numbers'), () => ++seen < 10);
    expect(seen).toBe(10);
    expect(await rowsOf(selectOf('SELECT 1'))).toEqual([[1]]);
  });

  it('fail with an error of onRow', async () => {
    const call = client.select(selectOf('SELECT 1'), () => {
      throw new Error('no room');
    });
    await expect(call).rejects.toThrow('no room');
  });
});

describe('a failure', () => {
  it("of the statement is the server's error", async () => {
    const error = await failureOf(rowsOf(selectOf('SELECT nope')));
    expect(error).toBeInstanceOf(ClickHouseError);
    expect(error).toMatchObject({ code: '47', type: 'UNKNOWN_IDENTIFIER' });
  });

  it.each([
    ['statement', '50000000'],
    ['engine', '0'],
  ])('for lack of memory of the %s is told as such', async (whose, bytes) => {
    const sql = 'SELECT length(groupArray(number)) FROM numbers(1000000000)';
    const settings = { max_memory_usage: bytes };
    expect(lackOfMemory(await failureOf(rowsOf(selectOf(sql, { settings }))))).toBe(whose);
  });

  it("in the middle of a result is the server's error", async () => {
    const sql = `SELECT throwIf(number = 300000, 'boom'), repeat('x', 100) FROM numbers(400000)`;
    const error = await failureOf(rowsOf(selectOf(sql, { settings: { max_threads: 1 } })));
    expect(error).toBeInstanceOf(ClickHouseError);
    expect(error).toMatchObject({ code: '395' });
  });

  it('follows an abort by the caller', async () => {
    const ending = new AbortController();
    const select = selectOf('SELECT number FROM system.numbers', { signal: ending.signal });
    const call = client.select(select, () => {
      ending.abort();
      return true;
    });
    await failureOf(call);
    const never = client.select(selectOf('SELECT 1', { signal: ending.signal }), () => true);
    expect(await failureOf(never)).toMatchObject({ code: 'ABORT_ERR' });
  });
});

describe('a scripted server', () => {
  let server: Server;
  let sockets: Socket[] = [];
  /** The answers to the coming requests, in order. */
  let answers: ((socket: Socket, request: string) => void)[] = [];
  let fewUrl = '';
  let few: DatabaseClient;
  beforeAll(async () => {
    server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => {});
      socket.on('data', (bytes) => answers.shift()?.(socket, bytes.toString()));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    fewUrl = `http://127.0.0.1:${address.port}/x`;
    few = createClickHouse(fewUrl, { log, maxConnections: 1 });
  });
  afterAll(async () => {
    await few.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  const say =
    (body: string, length = body.length) =>
    (socket: Socket) =>
      void socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n${body}`);
  const hangUp = (socket: Socket): void => void socket.destroy();

  it('that closes a kept connection is asked once more', async () => {
    sockets = [];
    answers = [say('[1]\n'), hangUp, say('[2]\n')];
    expect(await rowsOf(selectOf('SELECT 1'), few)).toEqual([[1]]);
    expect(await rowsOf(selectOf('SELECT 2'), few)).toEqual([[2]]);
    expect(sockets).toHaveLength(2);
  });

  it('receives the user and the database', async () => {
    const { host } = new URL(fewUrl);
    for (const [named, user] of [
      ['', 'default:'],
      ['ann:p%40ss@', 'ann:p@ss'],
    ]) {
      const asking = createClickHouse(`http://${named}${host}/events`, { log, maxConnections: 1 });
      const heard = new Promise<string>((resolve) => {
        answers = [
          (socket, request) => {
            resolve(request);
            say('[1]\n')(socket);
          },
        ];
      });
      await rowsOf(selectOf('SELECT 1', { settings: { max_threads: 2 } }), asking);
      const request = await heard;
      expect(request).toContain(
        `Authorization: Basic ${Buffer.from(String(user)).toString('base64')}`,
      );
      expect(request).toContain('X-ClickHouse-Database: events');
      expect(request).toMatch(
        /^POST \/\?default_format=JSONCompactEachRow&max_threads=2&max_memory_usage=402653184 HTTP/,
      );
      await asking.close();
    }
  });

  it('that closes a new connection is not asked again', async () => {
    answers = [hangUp, say('[1]\n')];
    const error = await failureOf(rowsOf(selectOf('SELECT 1'), few));
    expect(error).toMatchObject({ code: 'ECONNRESET' });
    expect(answers).toHaveLength(1);
  });

  it('that closes in the middle of a result, or of a row, has not answered', async () => {
    const cut = (socket: Socket): void => {
      say('[1]\n[2', 100)(socket);
      socket.end();
    };
    answers = [cut, say('[1]\n[2')];
    expect(await failureOf(rowsOf(selectOf('SELECT 1'), few))).toMatchObject({
      code: 'ECONNRESET',
    });
    await expect(rowsOf(selectOf('SELECT 1'), few)).rejects.toThrow('cut off');
  });
});

it('fails with the code of the network where there is no server', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  await new Promise((resolve) => server.close(resolve));
  const nobody = createClickHouse(`http://127.0.0.1:${port}/x`, { log, maxConnections: 1 });
  expect(await failureOf(rowsOf(selectOf('SELECT 1'), nobody))).toMatchObject({
    code: 'ECONNREFUSED',
  });
  await nobody.close();
});
