// The first script, a small one. It asks for the session, what the reader may open and the code of the first page while
// the code of the app, which the page's head names, is on its way.

import { callEarly } from './browser/early-calls.ts';
import { isFramed } from './browser/media.ts';
import { address } from './router.ts';
import { routeOf } from './routes.ts';
import { resumeSession, session } from './session.ts';

async function beginSession(): Promise<void> {
  await resumeSession();
  const now = session.peek();
  if (now.state === 'signed-in') callEarly(now.accessToken);
}

if (!isFramed) void beginSession();
void import('./main.tsx');
// The page itself says where its code could not be loaded; a stranger is sent to the sign-in.
const first = routeOf(address.peek().path)?.route;
const isOpen = first?.access === 'open' || session.peek().state !== 'signed-out';
if (first && isOpen) first.load().catch(() => {});
