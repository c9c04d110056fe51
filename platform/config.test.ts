import { describe, expect, it } from 'vitest';
import { readConfig } from './config.ts';

function read(env: Record<string, string>, argv: string[] = []) {
  return readConfig(env, argv);
}

describe('readConfig', () => {
  it('has a value for everything without any setting', () => {
    const result = read({});
    if (result.kind !== 'ok') throw new Error(result.problems.join());
    expect(result.config).toMatchObject({
      roles: ['ingest', 'pipeline', 'query', 'control', 'webhooks'],
      host: '127.0.0.1',
      port: 8080,
      json: false,
      shards: 1,
      eventsPerSecond: 100_000,
      frameLz4: true,
    });
    expect(result.config.natsUrl).toBeUndefined();
  });

  it('takes flags over the environment, with a space or an equals sign', () => {
    const result = read({ MILLRACE_PORT: '1', MILLRACE_DATA: '/a' }, [
      '--port=9',
      '--data',
      '/b',
      '--json',
    ]);
    if (result.kind !== 'ok') throw new Error(result.problems.join());
    expect(result.config).toMatchObject({ port: 9, dataDir: '/b', json: true });
  });

  it('bounds the age of events of public keys, or does not', () => {
    const maxAge = (days: string) => {
      const result = read({ MILLRACE_PUBLIC_MAX_AGE_DAYS: days });
      return result.kind === 'ok' ? result.config.publicMaxAgeMs / 86_400_000 : result.problems;
    };
    expect(['', '1', '36500'].map(maxAge)).toEqual([30, 1, 36_500]);
    expect(maxAge('0')).toBe(Number.POSITIVE_INFINITY);
    const problem = 'MILLRACE_PUBLIC_MAX_AGE_DAYS must be a whole number from 0 to 36500';
    for (const days of ['-1', '36501', '1.5', 'off']) expect(maxAge(days)).toEqual([problem]);
  });

  it('opens no network to webhooks by itself', () => {
    const webhooksOf = (env: Record<string, string>) => {
      const result = read(env);
      if (result.kind !== 'ok') throw new Error(result.problems.join());
      const { allowedNetworks, ...rest } = result.config.webhooks;
      return { ...rest, allowsLoopback: allowedNetworks.check('127.0.0.1') };
    };
    const closed = { allowsLoopback: false, logsAllowedBodies: false, privateOnly: false };
    expect(webhooksOf({})).toEqual(closed);
    const opened = {
      MILLRACE_WEBHOOK_ALLOW: '127.0.0.0/8, 10.0.0.0/8',
      MILLRACE_WEBHOOK_LOG_BODIES: '1',
      MILLRACE_WEBHOOK_PRIVATE_ONLY: '1',
    };
    expect(webhooksOf(opened)).toEqual({
      allowsLoopback: true,
      logsAllowedBodies: true,
      privateOnly: true,
    });
  });

  it('gives the engine a quarter of the memory, or what is said, and no less than it needs', () => {
    const memory = (env: Record<string, string>) => {
      const result = read(env);
      return result.kind === 'ok' ? result.config.engineMemoryBytes / 1_048_576 : result.problems;
    };
    expect(memory({})).toBeGreaterThanOrEqual(768);
    expect(memory({ MILLRACE_ENGINE_MEMORY_MIB: '2000' })).toBe(2_000);
    const problem = 'MILLRACE_ENGINE_MEMORY_MIB must be a whole number from 768 to 524288';
    expect(memory({ MILLRACE_ENGINE_MEMORY_MIB: '767' })).toEqual([problem]);
  });

  it('reports every problem at once', () => {
    const result = read(
      {
        MILLRACE_SHARDS: '0x2',
        NATS_URL: 'nats://user:hidden@host:4222,user:hidden@other',
        MILLRACE_CDN: 'cloudy',
        MILLRACE_TRUSTED_PROXIES: '10.0.0.0/33',
        MILLRACE_WEBHOOK_ALLOW: '127.0.0.0/8,localhost',
        MILLRACE_WEBHOOK_LOG_BODIES: 'yes',
      },
      ['--port', '70000', '--verbose', '--data'],
    );
    expect(result).toEqual({
      kind: 'refused',
      problems: [
        '--verbose is not a flag: there are --port N, --data DIR, --roles LIST, --ingest N, --json, --accept-empty-tables and --accept-store',
        '--data needs a value',
        '--port must be a whole number from 0 to 65535',
        'MILLRACE_SHARDS must be a whole number from 1 to 64',
        'MILLRACE_TRUSTED_PROXIES: 10.0.0.0/33 is not a network such as 10.0.0.0/8',
        'MILLRACE_WEBHOOK_ALLOW: localhost is not a network such as 10.0.0.0/8',
        'MILLRACE_WEBHOOK_LOG_BODIES must be a whole number from 0 to 1',
        'NATS_URL must be a URL that starts with nats:// or tls://',
        'MILLRACE_CDN must be one of cloudflare, cloudfront, fastly, vercel, akamai, gcp',
      ],
    });
  });

  it('believes no proxy headers without a list of trusted networks', () => {
    const problem =
      'MILLRACE_CDN and MILLRACE_PROXY_HOPS need MILLRACE_TRUSTED_PROXIES: the networks whose headers are believed';
    expect(read({ MILLRACE_CDN: 'fastly' })).toEqual({ kind: 'refused', problems: [problem] });
    expect(read({ MILLRACE_PROXY_HOPS: '1' })).toEqual({ kind: 'refused', problems: [problem] });
    const trusting = read({ MILLRACE_CDN: 'fastly', MILLRACE_TRUSTED_PROXIES: '10.0.0.0/8, ::1' });
    if (trusting.kind !== 'ok') throw new Error(trusting.problems.join());
    expect(trusting.config.trustedProxies.check('10.1.2.3')).toBe(true);
    expect(trusting.config.trustedProxies.check('::1', 'ipv6')).toBe(true);
    expect(trusting.config.trustedProxies.check('11.1.2.3')).toBe(false);
  });

  it('splits the roles that need one ClickHouse only where one is named', () => {
    const rolesAt = (roles: string, env: Record<string, string>) => {
      const result = read(env, ['--roles', roles]);
      return result.kind === 'ok' ? result.config.roles.join() : result.problems;
    };
    const broker = { NATS_URL: 'nats://host:4222' };
    const problem =
      'the roles pipeline, query and webhooks need one ClickHouse: set CLICKHOUSE_URL to the same server in every process ' +
      'that has one of them, or run pipeline and query in one process, and webhooks in no other';
    for (const split of ['pipeline', 'ingest,query', 'control,webhooks', 'pipeline,webhooks']) {
      expect(rolesAt(split, broker)).toEqual([problem]);
      expect(rolesAt(split, { ...broker, CLICKHOUSE_URL: 'http://host:8123/millrace' })).toBe(
        split,
      );
      // The embedded broker has no other process.
      expect(rolesAt(split, {})).toBe(split);
    }
    for (const whole of ['ingest', 'ingest,control', 'pipeline,query']) {
      expect(rolesAt(whole, broker)).toBe(whole);
    }
  });

  it('replicates tables of a ClickHouse of one’s own only', () => {
    const needs =
      'MILLRACE_CLICKHOUSE_REPLICATED needs CLICKHOUSE_URL: the embedded ClickHouse is one server';
    const set = { MILLRACE_CLICKHOUSE_REPLICATED: '1' };
    expect(read(set)).toEqual({ kind: 'refused', problems: [needs] });
    const result = read({ ...set, CLICKHOUSE_URL: 'http://a:8123/x,http://b:8123/x' });
    expect(result).toMatchObject({ config: { clickhouseReplicated: true } });
    expect(read({ MILLRACE_CLICKHOUSE_REPLICATED: 'yes' })).toMatchObject({
      problems: ['MILLRACE_CLICKHOUSE_REPLICATED must be a whole number from 0 to 1'],
    });
  });

  it('takes a token and a port for the operator, and no token that could be guessed', () => {
    const token = 'x'.repeat(16);
    const result = read({ MILLRACE_OPERATOR_TOKEN: token, MILLRACE_OPERATOR_PORT: '9090' });
    if (result.kind !== 'ok') throw new Error(result.problems.join());
    expect(result.config).toMatchObject({ operatorToken: token, operatorPort: 9090 });
    const weak = 'MILLRACE_OPERATOR_TOKEN must have 16 to 256 ASCII characters and no spaces';
    for (const one of ['x'.repeat(15), 'x'.repeat(257), 'two words of a token', 'ä'.repeat(16)]) {
      expect(read({ MILLRACE_OPERATOR_TOKEN: one })).toEqual({ kind: 'refused', problems: [weak] });
    }
    expect(read({ MILLRACE_OPERATOR_PORT: '0' })).toMatchObject({ kind: 'refused' });
    const problems = ['MILLRACE_OPERATOR_PORT must differ from the port of the service'];
    expect(read({ MILLRACE_OPERATOR_PORT: '8080' })).toEqual({ kind: 'refused', problems });
  });

  it('takes other paths for the script and what it sends, which no page of the service has', () => {
    const paths = (env: Record<string, string>) => {
      const result = read(env);
      return result.kind === 'ok' ? result.config.browserPaths : result.problems.length;
    };
    expect(paths({})).toEqual({ collectPath: '/m', scriptPaths: ['/millrace.js'] });
    const renamed = { MILLRACE_COLLECT_PATH: '/a/b', MILLRACE_SCRIPT_PATHS: '/a.js, /static/b.js' };
    expect(paths(renamed)).toEqual({ collectPath: '/a/b', scriptPaths: ['/a.js', '/static/b.js'] });
    for (const path of ['m', '/', '/m/', '/a.b', '/a?b', '/healthz', '/a//b', '/ü', '/a/../b']) {
      expect(paths({ MILLRACE_COLLECT_PATH: path }), path).toBe(1);
    }
    for (const list of ['/a', '/a.js,', 'a.js', '/.js/', '/a b.js', '/m.js,'.repeat(9)]) {
      expect(paths({ MILLRACE_SCRIPT_PATHS: list }), list).toBe(1);
    }
  });
});
