// The app: styles and the shell.

import './styles/tokens.css';
import './styles/base.css';
import './styles/parts.css';
import './styles/shell.css';
import './styles/print.css';
import { render } from 'preact';
import { listenForLinks } from './router.ts';
import { App } from './shell/app.tsx';
import { applyTheme } from './shell/theme.ts';

applyTheme();
listenForLinks();

function show(): void {
  const root = document.getElementById('app');
  if (root) render(<App />, root);
}

// The first script does not wait for the document's end.
if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', show);
else show();
