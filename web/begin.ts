// The first script, a small one. The page's head names the code of the app. While that is on its way, this script asks
// for the session, for what the reader may open and for the first page's code.

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
