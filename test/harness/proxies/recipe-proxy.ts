// A proxy that runs with the very text of docs/recipes.md, on ports of its own, where the machine has it.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../clients/client.ts';
import { ownPort } from '../listen.ts';
import { root } from '../source-tree.ts';

export type ProxyName = 'nginx' | 'caddy';

const recipes = readFileSync(join(root, 'docs', 'recipes.md'), 'utf8');
const languages = { nginx: 'nginx', caddy: 'caddyfile' } as const;

/** The blocks of code below a heading of docs/recipes.md. */
export function recipe(heading: string, language: string): string[] {
  const [, section = ''] = recipes.split(`\n## ${heading}\n`);
  const [text = ''] = section.split('\n## ');
  const blocks = [...text.matchAll(/```(\w+)\n([\s\S]*?)```/g)];
  return blocks.filter(([, found]) => found === language).map(([, , code = '']) => code);
}

/** The settings that docs/recipes.md gives the service behind them. */
export function recipeSettings(): Record<string, string> {
  const [line = ''] = recipe('nginx', 'sh');
  return Object.fromEntries(
    [...line.matchAll(/(MILLRACE_\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
  );
}

export function hasProxy(name: ProxyName): boolean {
  return spawnSync(name, [name === 'nginx' ? '-v' : 'version']).status === 0;
}

export interface RecipeProxy {
  /** Sends a request to the host by the proxy, from an address of this machine. */
  send(host: string, path: string, options?: SendOptions): Promise<Sent>;
  stop(): Promise<void>;
}

interface SendOptions {
  /** Absent: GET. */
  body?: string | Uint8Array;
  headers?: Record<string, string>;
  /** Such as 127.0.0.2. */
  from?: string;
  /** Answers with the first bytes of a body that goes on. */
  isStream?: boolean;
}

export interface Sent {
  status: number;
  text: string;
}

/** In front of a service on a port of this machine. */
export async function startProxy(name: ProxyName, servicePort: number): Promise<RecipeProxy> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-proxy-'));
  const port = await ownPort();
  const [block = ''] = recipe(name === 'nginx' ? 'nginx' : 'Caddy', languages[name]);
  const own = block.replaceAll('127.0.0.1:8080', `127.0.0.1:${servicePort}`);
  const child =
    name === 'nginx' ? startNginx(directory, own, port) : startCaddy(directory, own, port);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
    rmSync(directory, { recursive: true, force: true });
  };
  await eventually(() => accepts(port), Boolean).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { send: (host, path, options) => sendTo(port, host, path, options), stop };
}

function startNginx(directory: string, block: string, port: number): ChildProcess {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${directory}/${kind};`,
  );
  const text = [
    // One process, under the name of whoever runs the test.
    ...['daemon off;', 'master_process off;', `pid ${directory}/pid;`, 'error_log stderr;'],
    ...['events {}', 'http {', 'access_log off;', ...temporary],
    block.replaceAll('listen 80;', `listen 127.0.0.1:${port};`),
    '}',
  ];
  const file = join(directory, 'nginx.conf');
  writeFileSync(file, text.join('\n'));
  return spawn('nginx', ['-p', directory, '-c', file], { stdio: 'ignore' });
}

function startCaddy(directory: string, block: string, port: number): ChildProcess {
  // Without TLS, whose certificates need names that somebody owns.
  const own = block.replaceAll(/^(\w+\.example\.org) \{/gm, `http://$1:${port} {`);
  const file = join(directory, 'Caddyfile');
  writeFileSync(file, `{\n\tadmin off\n}\n${own}`);
  const env = {
    ...process.env,
    HOME: directory,
    XDG_DATA_HOME: directory,
    XDG_CONFIG_HOME: directory,
  };
  return spawn('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], {
    env,
    stdio: 'ignore',
  });
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Also straight to a service, whose port it then is. */
export function sendTo(
  port: number,
  host: string,
  path: string,
  { body, headers = {}, from = '127.0.0.1', isStream = false }: SendOptions = {},
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const options = {
      ...{ host: '127.0.0.1', port, path, localAddress: from },
      method: body === undefined ? 'GET' : 'POST',
      headers: { host, ...headers },
    };
    const sent = request(options, (response) => {
      const status = response.statusCode ?? 0;
      const pieces: Buffer[] = [];
      const answer = (): void => resolve({ status, text: Buffer.concat(pieces).toString('utf8') });
      response.on('data', (piece: Buffer) => {
        pieces.push(piece);
        if (!isStream) return;
        answer();
        sent.destroy();
      });
      response.on('end', answer);
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
