// The keys of the live page, and the wall screen: the page alone, over everything else.

import { useEffect } from 'preact/hooks';

/** Space, unless it means something where the focus is. */
export function useSpace(onSpace: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== ' ' || event.ctrlKey || event.metaKey || event.altKey) return;
      if (document.querySelector('dialog[open]')) return;
      if (
        event.target instanceof Element &&
        event.target.closest('button, a, input, select, textarea, summary')
      )
        return;
      event.preventDefault();
      onSpace();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

/** Full screen where the browser grants it, and nothing around the page that the keyboard could reach. Esc leaves. */
export function useWall(isWall: boolean, leave: () => void): void {
  useEffect(() => {
    if (!isWall) return;
    const around = [...document.querySelectorAll<HTMLElement>('.sidebar, .top-bar, .skip')];
    for (const element of around) element.inert = true;
    document.documentElement.requestFullscreen?.().catch(() => {
      // Only a click may ask for it: an address that was opened fills the window alone.
    });
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') leave();
    };
    // Esc in full screen ends that alone, and no key is told.
    const onChange = (): void => {
      if (!document.fullscreenElement) leave();
    };
    document.addEventListener('keydown', onKey);
    document.addEventListener('fullscreenchange', onChange);
    return () => {
      for (const element of around) element.inert = false;
      document.removeEventListener('keydown', onKey);
      document.removeEventListener('fullscreenchange', onChange);
      if (document.fullscreenElement) void document.exitFullscreen();
    };
  }, [isWall]);
}
