// What stands around every page: who may see it, the navigation, the state of the connection, and the page itself.

import type { ComponentType } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isFramed } from '../browser/media.ts';
import type { PageProps } from '../router.ts';
import { address, moves, navigate } from '../router.ts';
import { type Route, routeOf } from '../routes.ts';
import { session } from '../session.ts';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { Toasts } from '../ui/toasts.tsx';
import { currentProject, loadWorkspace, workspace, workspaceFault } from '../workspace.ts';
import { ConnectionBar } from './connection.tsx';
import { loadCode, pageIsShown, reloadOnce } from './load-code.ts';
import { Palette } from './palette.tsx';
import { ShortcutHelp, useShortcuts } from './shortcuts.tsx';
import { Sidebar } from './sidebar.tsx';
import { TopBar } from './top-bar.tsx';

export function App() {
  return isFramed ? <Framed /> : <Windowed />;
}

/** In a frame only shared boards are shown: a page around others could trick their reader into a press. */
function Framed() {
  const found = routeOf(address.value.path);
  if (found?.route.pattern !== '/s/:token') return <NoPage />;
  return (
    <>
      <Page route={found.route} params={found.params} />
      <Toasts />
    </>
  );
}

function Windowed() {
  useShortcuts();
  const found = routeOf(address.value.path);
  return (
    <>
      <ConnectionBar />
      {found ? <Guarded route={found.route} params={found.params} /> : <NoPage />}
      <Palette />
      <ShortcutHelp />
      <Toasts />
    </>
  );
}

/** Sends a stranger to the sign-in and back afterwards; shows nothing of a page before its reader is known. */
function Guarded({ route, params }: { route: Route; params: Record<string, string> }) {
  const { state } = session.value;
  const isHidden = route.access === 'signed-in' && state === 'signed-out';
  useEffect(() => {
    if (!isHidden) return;
    const { path, query } = address.peek();
    const text = query.toString();
    const back =
      path === '/' && text === ''
        ? ''
        : `?to=${encodeURIComponent(text ? `${path}?${text}` : path)}`;
    navigate(`/sign-in${back}`, { replace: true });
  }, [isHidden]);
  if (isHidden) return null;
  if (route.access === 'signed-in' && state === 'unknown') return <Loading of="your session" />;
  if (route.frame === 'bare') return <Page route={route} params={params} />;
  return <Shell route={route} params={params} />;
}

function Shell({ route, params }: { route: Route; params: Record<string, string> }) {
  const isOfProject = route.pattern.startsWith('/p/');
  const isKnown = !isOfProject || currentProject.value !== undefined;
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <Sidebar />
      <div class="shell-body">
        <TopBar />
        <main id="main" class="page">
          {isKnown ? <Page route={route} params={params} /> : <UnknownProject />}
        </main>
      </div>
    </div>
  );
}

function UnknownProject() {
  if (workspaceFault.value)
    return <Fault cause={workspaceFault.value} retry={() => void loadWorkspace()} />;
  if (!workspace.value) return <Loading of="your projects" />;
  return (
    <section class="empty">
      <h1 tabIndex={-1}>No such project</h1>
      <p>It was deleted, or you are not a member of its organization.</p>
      <a class="button" href="/">
        Your projects
      </a>
    </section>
  );
}

const loaded = new Map<Route, ComponentType<PageProps>>();

function Page({ route, params }: { route: Route; params: Record<string, string> }) {
  const [, setRound] = useState(0);
  const [fault, setFault] = useState<unknown>();
  const Content = loaded.get(route);
  useEffect(() => {
    document.title = `${route.title} · ${currentProject.value?.displayName ?? 'Millrace'}`;
    setFault(undefined);
    if (loaded.has(route)) return pageIsShown();
    const end = new AbortController();
    loadCode(route.load, end.signal, reloadOnce).then(
      ({ Page }) => {
        loaded.set(route, Page);
        if (end.signal.aborted) return;
        pageIsShown();
        setRound((last) => last + 1);
      },
      (cause: unknown) => {
        if (!end.signal.aborted) setFault(cause);
      },
    );
    return () => end.abort();
  }, [route]);
  useFocusAfterMove(Content !== undefined);
  if (fault) return <Fault cause={fault} retry={() => window.location.reload()} />;
  if (!Content) return <Loading of={route.title.toLowerCase()} />;
  // The key makes a page of another project or record begin anew.
  return <Content key={`${route.pattern}${Object.values(params).join('/')}`} params={params} />;
}

/** After a move the focus goes to the page's heading, so that a screen reader says where one is. */
function useFocusAfterMove(isShown: boolean): void {
  const seen = useRef(moves.peek());
  const now = moves.value;
  // Before the next key is read, as in a dialog: who types at once into a form would lose what follows.
  useLayoutEffect(() => {
    if (!isShown || seen.current === now) return;
    seen.current = now;
    document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, [now, isShown]);
}

function NoPage() {
  return (
    <main class="card-page">
      <section class="card">
        <h1 tabIndex={-1}>There is no such page</h1>
        <p>The address may be mistyped.</p>
        <a class="button" href="/">
          Your projects
        </a>
      </section>
    </main>
  );
}
