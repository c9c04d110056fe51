// Code that a page loads only where somebody asks for it.

import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { loadCode } from '../shell/load-code.ts';
import { Fault } from './fault.tsx';
import { Loading } from './loading.tsx';

/** Shows the component that `load` resolves with. `name` is read as "Loading NAME", and nothing without one. */
export function Loaded<Props extends object>(props: {
  load: () => Promise<ComponentType<Props>>;
  name?: string;
  with: Props;
}) {
  const [loaded, setLoaded] = useState<{ Content: ComponentType<Props> }>();
  const [fault, setFault] = useState<unknown>();
  useEffect(() => {
    const end = new AbortController();
    loadCode(props.load, end.signal).then(
      (Content) => setLoaded({ Content }),
      (cause: unknown) => {
        if (!end.signal.aborted) setFault(cause);
      },
    );
    return () => end.abort();
  }, []);
  if (fault) return <Fault cause={fault} retry={() => window.location.reload()} />;
  if (loaded) return <loaded.Content {...props.with} />;
  return props.name === undefined ? null : <Loading of={props.name} />;
}
