// The entry: styles, the session, the shell.

import './styles/tokens.css';
import './styles/base.css';
import './styles/parts.css';
import './styles/shell.css';
import './styles/print.css';
import { render } from 'preact';
import { isFramed } from './browser/media.ts';
import { address, listenForLinks } from './router.ts';
import { routeOf } from './routes.ts';
import { resumeSession, session } from './session.ts';
import { App } from './shell/app.tsx';
import { applyTheme } from './shell/theme.ts';

applyTheme();
listenForLinks();
if (!isFramed) void resumeSession();
// The code of the first page is on its way while the session is. The page itself says where it could not be loaded; a
// stranger is sent to the sign-in.
const first = routeOf(address.peek().path)?.route;
const isOpen = first?.access === 'open' || session.peek().state !== 'signed-out';
if (first && isOpen) first.load().catch(() => {});
const root = document.getElementById('app');
if (root) render(<App />, root);
