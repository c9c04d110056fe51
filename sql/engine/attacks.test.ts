// The embedded engine as a stranger on the machine meets it, and as a statement meets it that nobody should have sent.

import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { readServerUrl } from '../../platform/clickhouse/server-url.ts';
import { createLog } from '../../platform/log.ts';
import { askEngine, type RawAnswer } from '../../test/harness/servers/engine-request.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';

const engine = useEngine();
const secret = 'the signing key';
let elsewhere: string;
let secretPath: string;
let client: DatabaseClient;

beforeAll(async () => {
  elsewhere = mkdtempSync(join(tmpdir(), 'millrace-secret-'));
  secretPath = join(elsewhere, 'secret.txt');
  writeFileSync(secretPath, secret);
  client = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 4 });
  await client.command({ query: 'CREATE TABLE lines (line String) ENGINE = Memory' });
});
afterAll(async () => {
  await client.close();
  rmSync(elsewhere, { recursive: true });
});

const ask = (body: string, path = '/?database=millrace'): Promise<RawAnswer> =>
  askEngine(engine.url, { path, body });

async function column(query: string): Promise<string[]> {
  const result = await client.query({ query, format: 'JSONCompactEachRow' });
  return (await result.json<[string]>()).map(([value]) => value);
}

describe('another user of the machine', () => {
  it('finds no port: the engine listens on a socket alone', () => {
    const sockets = readdirSync(`/proc/${engine.pid()}/fd`).flatMap((fd) => {
      const target = linkOf(`/proc/${engine.pid()}/fd/${fd}`);
      return /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? [];
    });
    const ports = ['tcp', 'tcp6'].flatMap((kind) =>
      readFileSync(`/proc/net/${kind}`, 'utf8')
        .split('\n')
        .map((line) => line.trim().split(/\s+/)[9]),
    );
    expect(sockets.length).toBeGreaterThan(0);
    expect(sockets.filter((inode) => ports.includes(inode))).toEqual([]);
  });

  it('is asked for the password, even behind the socket', async () => {
    const noPassword = new URL(engine.url);
    noPassword.searchParams.delete('password');
    const wrong = new URL(engine.url);
    wrong.searchParams.set('password', `${wrong.searchParams.get('password')}x`);
    for (const url of [noPassword, wrong]) {
      const refused = await askEngine(url.href, { body: 'SELECT 1' });
      expect(refused).toMatchObject({ status: 403, text: expect.stringContaining('Code: 516') });
    }
  });

  it('gets nothing as a web page, which names another host or its origin', async () => {
    for (const headers of [{ host: 'millrace.example' }, { origin: 'http://localhost' }]) {
      const refused = await askEngine(engine.url, { body: 'SELECT 1', headers });
      expect(refused.status).toBe(403);
    }
    expect(await ask('SELECT 1')).toMatchObject({ status: 200 });
  });

  it('cannot enter the directory of the socket, nor use it there', () => {
    const { socketPath = '' } = readServerUrl(engine.url);
    expect(statSync(dirname(socketPath)).mode & 0o777).toBe(0o700);
    expect(statSync(socketPath).mode & 0o777).toBe(0o600);
    if (process.getuid?.() !== 0) return;
    const nobody = { uid: 65_534, gid: 65_534, encoding: 'utf8' } as const;
    const connect = `require('net').connect(process.argv[1]).on('error', (e) => process.stdout.write(e.code))`;
    const said = execFileSync(process.execPath, ['-e', connect, socketPath], {
      ...nobody,
      cwd: '/',
    });
    expect(said).toBe('EACCES');
  });
});

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** In which SECRET is a file that the engine's process can read, and NEW one that it could write. */
const attacks = [
  "SELECT file('SECRET')",
  "SELECT FILE /* why */ ('SECRET')",
  "SELECT `file`('SECRET')",
  'SELECT "file"\n(\'SECRET\')',
  "SELECT “file”('SECRET')",
  "SELECT `fil\\x65`('SECRET')",
  "SELECT `fil\\Ne`('SECRET')",
  "SELECT arrayMap(file, ['SECRET'])",
  "SELECT * APPLY file FROM (SELECT 'SECRET')",
  "SELECT COLUMNS('a') APPLY(file) FROM (SELECT 'SECRET' AS a)",
  "SELECT 1 WHERE 1 = (SELECT length(file('SECRET')))",
  "WITH x -> file(x) AS f SELECT f('SECRET')",
  "INSERT INTO lines SELECT file('SECRET')",
  "INSERT INTO lines VALUES (file('SECRET'))",
  "EXPLAIN SELECT file('SECRET')",
  'CREATE FUNCTION millraceRead AS path -> file(path)',
  'CREATE FUNCTION read AS path -> path',
  "CREATE VIEW read AS SELECT file('SECRET')",
  "CREATE TABLE read (a String DEFAULT file('SECRET')) ENGINE = Memory",
  "ALTER TABLE lines ADD COLUMN a String ALIAS file('SECRET')",
  "SELECT b FROM values('a Int8, b String ALIAS file(''SECRET'')', 1)",
  "SELECT b FROM view(SELECT * FROM values('a Int8, b String ALIAS file(''SECRET'')', 1))",
  "SELECT * FROM file('SECRET', 'LineAsString')",
  "SELECT * FROM `file` ('SECRET', 'LineAsString')",
  "SELECT * FROM numbers(1), file('SECRET', 'LineAsString')",
  "SELECT 1 IN file('SECRET', 'LineAsString')",
  "DESCRIBE TABLE file('SECRET')",
  "DESCRIBE file('SECRET')",
  "SELECT * FROM 'SECRET'",
  'SELECT * FROM `SECRET`',
  "INSERT INTO FUNCTION file('NEW', 'LineAsString', 'a String') SELECT 'x'",
  "INSERT INTO TABLE FUNCTION file('NEW', 'LineAsString', 'a String') VALUES ('x')",
  "INSERT INTO FUNCTION file('NEW', 'CSV', 'a String') FORMAT CSV x",
  "INSERT INTO lines FROM INFILE 'SECRET' FORMAT LineAsString",
  "INSERT INTO lines FROM /* x */ INFILE 'SECRET' FORMAT LineAsString",
  "SELECT 1 INTO OUTFILE 'NEW'",
  "(SELECT 1 INTO OUTFILE 'NEW')",
  "CREATE TABLE read (line String) ENGINE = File(LineAsString, 'SECRET')",
  "CREATE TABLE read (line String) ENGINE = URL('http://127.0.0.1:1/', CSV)",
  "CREATE TABLE read (a Int8) ENGINE = MySQL('127.0.0.1:1', 'a', 'b', 'c', 'd')",
  "CREATE TABLE read (a Int8) ENGINE = MergeTree ORDER BY a SETTINGS disk = disk(type = 'local', path = 'NEW/')",
  "CREATE TABLE read ENGINE = Merge('system', '.*')",
  "CREATE DATABASE read ENGINE = Filesystem('/')",
  "CREATE DATABASE read ENGINE = SQLite('NEW')",
  "CREATE DICTIONARY read (a UInt64) PRIMARY KEY a SOURCE(FILE(path 'SECRET' format 'CSV')) LAYOUT(FLAT())",
  "CREATE NAMED COLLECTION read AS a = 'b'",
  'CREATE USER read',
  "BACKUP TABLE lines TO File('NEW')",
  "SELECT * FROM url('http://127.0.0.1:1/', CSV, 'a String')",
  "SELECT * FROM s3('http://127.0.0.1:1/a', CSV, 'a String')",
  "SELECT * FROM remote('127.0.0.1:1', system.one)",
  "SELECT * FROM executable('ls', CSV, 'a String')",
  "SELECT * FROM merge('millrace', '.*')",
  "SELECT * FROM merge(REGEXP('.*'), 'one')",
  "SELECT * FROM input('a String')",
  "SELECT * FROM eval('SELECT 1')",
  "SELECT dictGet('a', 'b', 1)",
  "SELECT hasColumnInTable('127.0.0.1:1', 'a', 'b', 'c', 'd', 'e')",
  "SELECT aiGenerate('a', 'b')",
  'SELECT hostName()',
  'SELECT hostname()',
  "SELECT getServerPort('tcp_port')",
  "SELECT getServerSetting('path')",
  "SELECT getMacro('a')",
  'SELECT serverUUID()',
  'SELECT filesystemAvailable()',
  'SELECT showCertificate()',
  'SELECT * FROM system.server_settings',
  'SELECT * FROM system /* x */ . "stack_trace"',
  'SELECT * FROM `SYSTEM`.query_log',
  'SELECT path FROM system.disks',
  'SELECT * FROM information_schema.tables',
  "SELECT '' FORMAT Template SETTINGS format_template_row = 'SECRET'",
  "SELECT '' FORMAT Protobuf SETTINGS format_schema = 'SECRET:a'",
  "SELECT * FROM (SELECT 1 AS a) SETTINGS additional_result_filter = 'throwIf(1, file(''SECRET''))'",
  "SELECT * FROM (SELECT * FROM numbers(1) SETTINGS additional_table_filters = {'system.numbers': 'throwIf(1, file(''SECRET''))'})",
  "SELECT * FROM (SELECT * FROM numbers(1) SETTINGS `additional_table_filters` = {'system.numbers': 'throwIf(1, file(''SECRET''))'})",
  "SELECT * FROM numbers(1) SETTINGS additional_table_filters = {'system.numbers': 'throwIf(1, file(''SECRET''))'}",
  "SELECT '' AS a FORMAT Protobuf SETTINGS format_protobuf_use_autogenerated_schema = 1, output_format_schema = 'NEW'",
];

describe('a statement', () => {
  it.each(attacks)('is refused: %s', async (attack) => {
    const newPath = join(elsewhere, 'new');
    const answer = await ask(attack.replaceAll('SECRET', secretPath).replaceAll('NEW', newPath));
    // By statement.ts, statement/reach.ts, the grants, or a constraint in users.xml.
    expect(answer.header('x-clickhouse-exception-code')).toMatch(/^(48|60|452|497)$/);
    expect(answer.text).not.toContain(secret);
    expect(existsSync(newPath)).toBe(false);
    expect(await column('SELECT count() FROM lines')).toEqual(['0']);
  });

  it.each([
    ['a function', 'SELECT {f:Identifier}({p:String})', 'file'],
    ['a table function', "SELECT * FROM {f:Identifier}({p:String}, 'LineAsString')", 'file'],
  ])('is refused where its parameter names %s', async (_, sql, name) => {
    const path = `/?param_f=${name}&param_p=${encodeURIComponent(secretPath)}`;
    const answer = await ask(sql, path);
    expect(answer.header('x-clickhouse-exception-code')).toBe('497');
    expect(answer.text).not.toContain(secret);
  });

  it.each([
    'dialect=kusto',
    'format_schema=a:b',
    'format_schema_source=query',
    'format_template_row=/etc/hostname',
    'format_template_resultset=/etc/hostname',
    'format_avro_schema_registry_url=http://127.0.0.1:1/',
    'send_logs_level=trace',
    'compatibility=20.1',
    'additional_result_filter=1',
    'parallel_replicas_custom_key=1',
    'schema_inference_hints=a',
    'output_format_schema=a',
    'input_format_record_errors_file_path=a',
  ])('is refused with the setting %s', async (setting) => {
    const answer = await ask('SELECT 1', `/?${setting}`);
    expect(answer.header('x-clickhouse-exception-code')).toBe('452');
  });

  it.each([
    "{'millrace.events': 'throwIf(1, file(1))'}",
    "{'millrace.events': 'kind = \\'a\\' OR 1'}",
    "{'events': 'kind >= \\'a\\' AND throwIf(1)'}",
    "{'events': 'kind >= \\'a\\' AND kind'}",
    "{'millrace.events': 'kind = \\'a\\\\\\' OR 1'}",
    "{'millrace.events': '0', 'millrace.profiles': '1'}",
    "{'millrace.events': '0'} ",
    '{}',
  ])('is refused with the filters of rows %s', async (filters) => {
    const path = `/?additional_table_filters=${encodeURIComponent(filters)}`;
    expect(await ask('SELECT 1', path)).toMatchObject({ status: 403 });
  });

  it('sees no row that a filter of its request leaves out, and changes nothing where it only reads', async () => {
    const filters = encodeURIComponent("{'millrace.lines': 'line = \\'a\\''}");
    await client.command({ query: "INSERT INTO lines SELECT arrayJoin(['a', 'b'])" });
    const path = `/?database=millrace&additional_table_filters=${filters}&readonly=1&max_threads=1`;
    for (const sql of ['SELECT line FROM lines', 'SELECT l.line FROM lines AS l']) {
      expect((await ask(sql, path)).text).toBe('a\n');
    }
    const drop = await ask('TRUNCATE TABLE lines', path);
    expect(drop.header('x-clickhouse-exception-code')).toBe('164');
    // The next statement has its own settings again, on whatever connection.
    for (let round = 0; round < 8; round++) {
      const free = await ask('SELECT count() FROM lines', '/?database=millrace&max_threads=2');
      expect(free.text).toBe('2\n');
    }
    await client.command({ query: 'TRUNCATE TABLE lines' });
  });

  it.each(['system', 'SYSTEM', 'information_schema'])(
    'has no default database %s',
    async (name) => {
      const byUrl = await ask('SELECT 1', `/?database=${name}`);
      expect(byUrl.header('x-clickhouse-exception-code')).toBe('497');
      const headers = { 'X-ClickHouse-Database': name };
      const byHeader = await askEngine(engine.url, { body: 'SELECT 1', headers });
      expect(byHeader.header('x-clickhouse-exception-code')).toBe('497');
    },
  );

  it('may have the names of what is refused in texts, columns and comments', async () => {
    const sql = `SELECT 'file(1)' AS hostname, $$url(1)$$ AS url, 1 AS merge -- file('x')`;
    expect((await ask(`${sql}\nFORMAT TSV`)).text).toBe('file(1)\turl(1)\t1\n');
  });
});

describe('what the engine offers', () => {
  it('has no table function that is not refused, except two', async () => {
    const names = await column('SELECT name FROM system.table_functions');
    expect(names.length).toBeGreaterThan(50);
    const open: string[] = [];
    for (const name of names) {
      const answer = await ask(`SELECT * FROM ${name}('a', 'b')`);
      if (answer.header('x-clickhouse-exception-code') !== '497') open.push(name);
    }
    expect(open.sort()).toEqual(['numbers', 'view']);
  });

  it('has no function that by its description reaches further and is not refused', async () => {
    const further =
      'files?\\\\b|on disk|filesystem|\\\\bserver|host ?name|environment|network|keeper|remote|credential|process\\\\b';
    const names = await column(
      `SELECT name FROM system.functions WHERE NOT is_aggregate AND match(description, '(?i)${further}')`,
    );
    const open: string[] = [];
    for (const name of names) {
      const answer = await ask(`SELECT ${name}('a', 'b', 'c', 'd', 'e', 'f', 'g')`);
      if (answer.header('x-clickhouse-exception-code') !== '497') open.push(name);
    }
    expect(open.sort()).toEqual(harmless);
  });

  it('has no setting that may hold an expression, a file or an address and can be set', async () => {
    const further = 'expression|\\\\bfiles?\\\\b|\\\\bpath\\\\b|\\\\burl\\\\b|schema|filter';
    const open = await column(
      `SELECT name FROM system.settings WHERE type IN ('String', 'Map', 'URI') AND NOT readonly
         AND match(concat(replaceAll(name, '_', ' '), ' ', description), '(?i)${further}') ORDER BY name`,
    );
    expect(open).toEqual(harmlessSettings);
  });

  it('has no setting that a request cannot set and a subquery can', async () => {
    const names = await column('SELECT name FROM system.settings WHERE readonly');
    expect(names.length).toBeGreaterThan(10);
    for (const name of names) {
      const answer = await ask(`SELECT * FROM (SELECT 1 SETTINGS ${name} = '')`);
      expect([name, answer.header('x-clickhouse-exception-code')]).toEqual([name, '497']);
    }
  });

  it('has no function by the name of one of our columns or tables, except hostname', async () => {
    const ours = await column(
      "SELECT name FROM system.columns WHERE database = 'millrace' UNION DISTINCT SELECT name FROM system.tables WHERE database = 'millrace'",
    );
    const refused: string[] = [];
    for (const name of ours) {
      if ((await ask(`SELECT 1 AS \`${name}\``)).status !== 200) refused.push(name);
    }
    expect(refused).toEqual([]);
  });
});

/** Functions whose description has one of the words above, read one by one: they compute from their arguments. */
const harmless = [
  ...[
    'domain',
    'domainRFC',
    'extractKeyValuePairs',
    'globalIn',
    'globalInIgnoreSet',
    'globalNotIn',
  ],
  ...['globalNotInIgnoreSet', 'globalNotNullIn', 'globalNotNullInIgnoreSet', 'globalNullIn'],
  ...[
    'globalNullInIgnoreSet',
    'isIPAddressInRange',
    'javaHash',
    'javaHashUTF16LE',
    'localtime',
    'netloc',
  ],
  ...['randomStringUTF8', 'reverseBySeparator', 'serverTimezone', 'sleep', 'sleepEachRow'],
];

/** Settings whose name or description has one of the words above, read one by one: row-filters.ts has the first. */
const harmlessSettings = [
  'additional_table_filters',
  'column_names_for_schema_inference',
  'distributed_cache_file_cache_name',
  'distributed_plan_force_exchange_kind',
  'format_regexp',
  'format_schema_message_name',
  'iceberg_metadata_compression_method',
  'ignore_data_skipping_indices',
  'local_filesystem_read_method',
  'output_format_avro_confluent_subject',
  's3queue_default_zookeeper_path',
  'temporary_files_codec',
  'url_base',
];
