// The tokens of reports' links in the mails of an instance without a mail server, which are files.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The oldest first. */
export function mailedLinks(dataDir: string): string[] {
  const folder = join(dataDir, 'mail');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const text = readFileSync(join(folder, name), 'utf8').replace(/=\r?\n/g, '');
      return /\/r\/([\w~-]+)/.exec(text)?.[1] ?? [];
    });
}
