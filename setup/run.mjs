// `npm run demo`, `import`, `load`, `admin`, `restart` and `bench`: prepares, then runs the built entry that the first
// argument names, with the other arguments.
import { prepare } from './prepare.mjs';

const [entry, ...args] = process.argv.slice(2);
prepare({ needsBroker: entry === 'bench/run.js' });
process.argv.splice(1, process.argv.length, `dist/${entry}`, ...args);
await import(`../dist/${entry}`);
