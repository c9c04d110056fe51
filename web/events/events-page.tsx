// The explorer of a project's events: stored ones, refused requests, and what was accepted and could not be stored.

import type { PageProps } from '../router.ts';
import { Tabs, useTab } from '../ui/tabs.tsx';
import { DeadTab } from './dead-tab.tsx';
import { RefusedTab } from './refused-tab.tsx';
import { StoredTab } from './stored-tab.tsx';
import '../styles/events.css';

const tabs = [
  { id: 'stored', name: 'Stored' },
  { id: 'refused', name: 'Refused' },
  { id: 'dead', name: 'Dead letters' },
] as const;

export function Page({ params }: PageProps) {
  const projectId = params['project'] ?? '';
  const tab = useTab(tabs) ?? 'stored';
  return (
    <>
      <div class="page-head">
        <h1 tabIndex={-1}>Events</h1>
      </div>
      <Tabs label="Events" tabs={tabs} />
      <Shown tab={tab} projectId={projectId} />
    </>
  );
}

function Shown({ tab, projectId }: { tab: (typeof tabs)[number]['id']; projectId: string }) {
  switch (tab) {
    case 'stored':
      return <StoredTab projectId={projectId} />;
    case 'refused':
      return <RefusedTab projectId={projectId} />;
    case 'dead':
      return <DeadTab projectId={projectId} />;
    default:
      return tab satisfies never;
  }
}
