// The target of a command, the address and keys of an instance: from the flags, else from <data>/demo.json, which `npm
// start` writes.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseUrl } from '../../platform/http/parse-url.ts';
import { isObject } from '../../platform/json.ts';

export interface Target {
  /** Without a slash at the end. */
  baseUrl: string;
  publicKey: string;
  privateKey: string;
}

interface TargetFlags {
  url?: string | undefined;
  key?: string | undefined;
  'private-key'?: string | undefined;
  data?: string | undefined;
}

type TargetResult = { kind: 'ok'; target: Target } | { kind: 'refused'; why: string };

const defaultUrl = 'http://127.0.0.1:8080';

/** The flags that `findTarget` reads, for node:util's parseArgs. */
export const targetOptions = {
  url: { type: 'string' },
  key: { type: 'string' },
  'private-key': { type: 'string' },
  data: { type: 'string' },
} as const;

/** `needs` lists the keys that the command must have. */
export function findTarget(
  flags: TargetFlags,
  needs: readonly ('publicKey' | 'privateKey')[],
): TargetResult {
  const path = join(flags.data ?? 'data', 'demo.json');
  const kept = readKept(path);
  const target: Target = {
    baseUrl: (flags.url ?? kept['baseUrl'] ?? defaultUrl).replace(/\/+$/, ''),
    publicKey: flags.key ?? kept['publicKey'] ?? '',
    privateKey: flags['private-key'] ?? kept['privateKey'] ?? '',
  };
  if (!/^https?:\/\/./.test(target.baseUrl) || parseUrl(target.baseUrl) === undefined) {
    return { kind: 'refused', why: `${target.baseUrl} is not an http or https URL` };
  }
  const missing = needs.filter((name) => target[name] === '');
  if (missing.length === 0) return { kind: 'ok', target };
  const wanted = missing.map((name) => (name === 'publicKey' ? '--key PUB' : '--private-key PRV'));
  const why =
    `no keys in ${path}: run \`npm start\` first, name its directory with --data DIR, ` +
    `or give ${wanted.join(' and ')}`;
  return { kind: 'refused', why };
}

function readKept(path: string): Record<string, string | undefined> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return {};
  }
  if (!isObject(parsed)) return {};
  const texts = Object.entries(parsed).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  );
  return Object.fromEntries(texts);
}
