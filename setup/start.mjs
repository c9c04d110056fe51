// `npm start`: prepares a clean clone, then runs the service in this very process, so that signals reach it. The flag
// in package.json lets V8's heap reach that many MiB before it is walked: buffers count, of which a loaded service
// makes more each second than its heap holds.
import { prepare } from './prepare.mjs';

prepare({ needsBroker: !process.env.NATS_URL });
await import('../dist/main.js');
