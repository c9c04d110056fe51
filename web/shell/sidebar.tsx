// The navigation of a project, of its organization and of the reader.

import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import mark from '../mark.svg';
import { address } from '../router.ts';
import { session } from '../session.ts';
import { placeHref } from '../time/kept-range.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { currentOrg, currentProject } from '../workspace.ts';
import { ProjectMenu } from './project-menu.tsx';

/** On a phone the navigation is a drawer. */
export const isDrawerOpen = signal(false);

const closeDrawer = (): void => {
  isDrawerOpen.value = false;
};

type Place = { path: string; name: string; icon: IconName };

/** The pages of a project, below /p/ID; `insights` opens with its first type. */
export const projectPlaces: Place[] = [
  { path: '', name: 'Overview', icon: 'gauge' },
  { path: '/live', name: 'Live', icon: 'pulse' },
  { path: '/events', name: 'Events', icon: 'list' },
  { path: '/visits', name: 'Visits', icon: 'route' },
  { path: '/profiles', name: 'Users', icon: 'people' },
  { path: '/segments', name: 'Segments', icon: 'overlap' },
  { path: '/insights/trends', name: 'Insights', icon: 'chart' },
  { path: '/questions', name: 'Saved insights', icon: 'table' },
  { path: '/sql', name: 'SQL', icon: 'code' },
  { path: '/boards', name: 'Boards', icon: 'grid' },
  { path: '/alerts', name: 'Alerts', icon: 'bell' },
  { path: '/reports', name: 'Reports', icon: 'clock' },
  { path: '/webhooks', name: 'Webhooks', icon: 'send' },
  { path: '/setup', name: 'Setup', icon: 'plug' },
  { path: '/settings', name: 'Settings', icon: 'sliders' },
];

function Item({
  href,
  name,
  icon,
  isHere,
}: {
  href: string;
  name: string;
  icon: IconName;
  isHere: boolean;
}) {
  return (
    <li>
      <a href={href} aria-current={isHere ? 'page' : undefined} onClick={closeDrawer}>
        <Icon name={icon} />
        {name}
      </a>
    </li>
  );
}

function ProjectPlaces({ id }: { id: string }) {
  const base = `/p/${id}`;
  const rest = address.value.path.slice(base.length);
  const isHere = (path: string): boolean =>
    path === '' ? rest === '' : `/${rest.split('/')[1] ?? ''}` === `/${path.split('/')[1] ?? ''}`;
  return (
    <ul>
      {projectPlaces.map(({ path, name, icon }) => (
        <Item key={path} href={placeHref(id, path)} name={name} icon={icon} isHere={isHere(path)} />
      ))}
    </ul>
  );
}

/** Closes it on Escape: the focus goes to what opens it, as its links are gone. Returns how to stop listening. */
function closeByKey(): () => void {
  const leaveByKey = ({ key }: KeyboardEvent): void => {
    if (key !== 'Escape') return;
    closeDrawer();
    document.querySelector<HTMLElement>('.top-bar [aria-label=Navigation]')?.focus();
  };
  document.addEventListener('keydown', leaveByKey);
  return () => document.removeEventListener('keydown', leaveByKey);
}

export function Sidebar() {
  const project = currentProject.value;
  const org = currentOrg.value;
  const { path } = address.value;
  const now = session.value;
  const isOpen = isDrawerOpen.value;
  // Before the next key is read, as in a menu.
  useLayoutEffect(() => (isOpen ? closeByKey() : undefined), [isOpen]);
  return (
    <>
      {isOpen ? <div class="sidebar-shade only-narrow" onClick={closeDrawer} /> : null}
      <nav class="sidebar" aria-label="Main" data-open={isOpen}>
        <a class="brand" href="/" onClick={closeDrawer}>
          <img src={mark} alt="" width="24" height="24" />
          Millrace
        </a>
        <ProjectMenu />
        {project ? <ProjectPlaces id={project.id} /> : null}
        <ul class="sidebar-end">
          {org ? (
            <Item
              href={`/o/${org.id}/settings`}
              name={org.displayName}
              icon="building"
              isHere={path.startsWith('/o/')}
            />
          ) : null}
          <Item
            href="/account"
            name={
              now.state === 'signed-in' ? now.person.displayName || now.person.email : 'Account'
            }
            icon="account"
            isHere={path === '/account'}
          />
        </ul>
      </nav>
    </>
  );
}
