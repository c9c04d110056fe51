// `npm start`: prepares a clean clone, then runs the service in this very process, so that signals reach it.
import { prepare } from './prepare.mjs';

prepare({ needsBroker: !process.env.NATS_URL });
await import('../dist/main.js');
