// `npm run bench -- [name …] [--smoke]`: runs the benches named, or all, and prints what they found.

import { parseArgs } from 'node:util';
import { printTable } from './bench.ts';
import { benches } from './benches.ts';
import { createSession } from './session.ts';

const { values, positionals } = parseArgs({
  options: { smoke: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const mode = values.smoke ? 'smoke' : 'real';
const unknown = positionals.filter((name) => benches.every((bench) => bench.name !== name));
const say = (text: string): void => void process.stdout.write(`${text}\n`);

if (unknown.length > 0) {
  const names = benches.map((bench) => bench.name).join(', ');
  process.stderr.write(`bench: there is no ${unknown.join(', ')}: there are ${names}\n`);
  process.exitCode = 1;
} else {
  const chosen = benches.filter(
    ({ name }) => positionals.length === 0 || positionals.includes(name),
  );
  for (const bench of chosen) {
    const session = createSession();
    say(`${bench.name}: ${bench.question}\n`);
    try {
      const startMs = performance.now();
      const { tables, resultHash } = await bench.run(mode, session);
      for (const table of tables) say(`${printTable(table)}\n`);
      const seconds = ((performance.now() - startMs) / 1_000).toFixed(0);
      say(`result ${resultHash.slice(0, 16)}, ${seconds} s\n`);
    } finally {
      await session.close();
    }
  }
}
