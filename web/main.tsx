// The entry: styles, the session, the shell.

import './styles/tokens.css';
import './styles/base.css';
import './styles/parts.css';
import './styles/shell.css';
import './styles/print.css';
import { render } from 'preact';
import { isFramed } from './media.ts';
import { listenForLinks } from './router.ts';
import { resumeSession } from './session.ts';
import { App } from './shell/app.tsx';
import { applyTheme } from './shell/theme.ts';

applyTheme();
listenForLinks();
if (!isFramed) void resumeSession();
const root = document.getElementById('app');
if (root) render(<App />, root);
