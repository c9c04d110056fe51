// `npm run size -- --events-per-second N --days D`: what each role needs, and the measured figures behind it.

import { printTable } from '../bench.ts';
import { readResults } from '../results.ts';
import { readMeasured } from './measured.ts';
import { readAsked } from './read-asked.ts';
import { sizeOf } from './roles.ts';
import { sizeLines, sizeTable } from './size-text.ts';

try {
  const asked = readAsked(process.argv.slice(2));
  const measured = readMeasured(readResults());
  const size = sizeOf(asked, measured);
  const text = [printTable(sizeTable(asked, size)), '', ...sizeLines(asked, size, measured)];
  process.stdout.write(`${text.join('\n')}\n`);
} catch (error) {
  process.stderr.write(`size: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
