// What `npm start` runs: keeps the ports while the service (main.ts), its child, ends and another one takes over. Knows
// neither configuration nor any part of the service.

import { join } from 'node:path';
import { ServiceKeeper } from './platform/door/keep-service.ts';

new ServiceKeeper(join(import.meta.dirname, 'main.js'), process.argv.slice(2));
// The garbage of the preparation would stay otherwise.
globalThis.gc?.();
