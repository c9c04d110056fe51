// Why the list of profiles is empty, and what fills it.

import { hasCookieless } from '../filter/cookieless.tsx';
import { useSeenVisitors } from '../filter/seen-visitors.ts';
import { DemoCommand } from '../setup/demo-command.tsx';
import { Loading } from '../ui/loading.tsx';

export function Nobody({ projectId }: { projectId: string }) {
  const isCookieless = hasCookieless(useSeenVisitors(projectId));
  if (isCookieless === undefined) return <Loading of="users" />;
  if (isCookieless)
    return (
      <section class="empty">
        <h2>Cookieless visitors only</h2>
        <p>
          The visitors of this project are cookieless: each is known for a day and is not listed.
          Users appear once a page sends with the consent <code>granted</code> (
          <a href={`/p/${projectId}/setup`}>Setup</a>), or a server names the user.
        </p>
        <a class="button primary" href={`/p/${projectId}/visits`}>
          See their visits
        </a>
      </section>
    );
  return (
    <section class="empty">
      <h2>Nobody yet</h2>
      <p>A user appears with their first event.</p>
      <DemoCommand />
    </section>
  );
}
