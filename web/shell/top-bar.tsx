// Above every page: how fresh the figures are, the search, the theme, the way out.

import { signOut } from '../account/auth-client.ts';
import { navigate } from '../router.ts';
import { session } from '../session.ts';
import { Icon } from '../ui/icon.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { currentProject } from '../workspace.ts';
import { LagBadge } from './lag-badge.tsx';
import { isPaletteOpen } from './palette.tsx';
import { isHelpOpen } from './shortcuts.tsx';
import { isDrawerOpen } from './sidebar.tsx';
import { setTheme, type Theme, theme } from './theme.ts';

const themes: { id: Theme; name: string }[] = [
  { id: 'system', name: 'Colours of the system' },
  { id: 'light', name: 'Light' },
  { id: 'dark', name: 'Dark' },
];

export function TopBar() {
  const now = session.value;
  return (
    <header class="top-bar">
      <button
        type="button"
        class="quiet only-narrow"
        aria-label="Navigation"
        aria-expanded={isDrawerOpen.value}
        onClick={() => (isDrawerOpen.value = !isDrawerOpen.value)}
      >
        <Icon name="menu" />
      </button>
      <button
        type="button"
        class="search-button"
        aria-label="Search or jump to… Ctrl K"
        onClick={() => (isPaletteOpen.value = true)}
      >
        <Icon name="search" />
        <span class="grow">Search or jump to…</span>
        <kbd>Ctrl K</kbd>
      </button>
      <span class="grow" />
      {currentProject.value ? <LagBadge projectId={currentProject.value.id} /> : null}
      <Menu label="You" align="end" class="quiet" button={<Icon name="account" />}>
        <MenuItem onChoose={() => navigate('/account')}>Account</MenuItem>
        {now.state === 'signed-in' && now.person.isOperator ? (
          <MenuItem onChoose={() => navigate('/operator')}>Operator</MenuItem>
        ) : null}
        <MenuItem onChoose={() => (isHelpOpen.value = true)}>Keyboard shortcuts</MenuItem>
        {themes.map(({ id, name }) => (
          <MenuItem key={id} isChosen={theme.value === id} onChoose={() => setTheme(id)}>
            {name}
          </MenuItem>
        ))}
        <MenuItem onChoose={() => void signOut()}>Sign out</MenuItem>
      </Menu>
    </header>
  );
}
