// `npm start`: prepares a clean clone, then keeps the ports of the service, its child, which gets the same flags.
// `--initial-old-space-size` in package.json lets V8's heap reach that many MiB before V8 walks it: buffers count
// towards it, and a service under load makes more of them each second than its heap holds. In 800 requests of 1,000
// events Node 24 walked its heap 42 times without the flag and twelve times with it. `--expose-gc` is for main.ts,
// door.ts and platform/memory/.
// `MALLOC_MMAP_THRESHOLD_` is glibc's own default, said so that it stays. Otherwise the first large buffer that is
// freed raises it to that buffer's size: later ones lie among small objects, and their pages never go back.
import { prepare } from './prepare.mjs';

prepare({ needsBroker: !process.env.NATS_URL });
await import('../dist/door.js');
