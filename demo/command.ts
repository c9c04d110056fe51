// The edges of every command of the demo: reads flags, and ends with one sentence and exit code 1 where something is
// wrong.

import { type ParseArgsConfig, parseArgs } from 'node:util';
import { count } from './progress.ts';
import { RequestRefused } from './sending/request-refused.ts';

/** Runs `main`; a RequestRefused ends as its sentence on stderr, any other error is thrown on. */
export async function runCommand(name: string, main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    process.stderr.write(`${name}: ${error.message}\n`);
    process.exitCode = 1;
  }
}

/**
 * node:util's parseArgs of the process's arguments; throws a RequestRefused with the usage, for `--help` or with the
 * flag that is wrong.
 */
export function readFlags<T extends ParseArgsConfig>(
  config: T,
  usage: string,
): ReturnType<typeof parseArgs<T>> {
  if ((config.args ?? process.argv.slice(2)).includes('--help')) {
    throw new RequestRefused(`usage: ${usage}`);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
    throw new RequestRefused(`${why}; usage: ${usage}`);
  }
}

/** The whole number of a flag, `fallback` where it is absent; throws a RequestRefused outside `min` and `max`. */
export function wholeNumber(
  flag: string,
  text: string | undefined,
  fallback: number,
  min: number,
  max = Number.MAX_SAFE_INTEGER,
): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (/^\d{1,15}$/.test(text) && value >= min && value <= max) return value;
  const upTo = max === Number.MAX_SAFE_INTEGER ? '' : ` to ${count(max)}`;
  throw new RequestRefused(`${flag} must be a whole number from ${min}${upTo}`);
}
