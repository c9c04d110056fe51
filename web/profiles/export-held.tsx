// Takes away what is held of a person, as a file of JSON lines: for whoever asks what that is.

import { useEffect, useRef, useState } from 'preact/hooks';
import { figure } from '../../platform/words/figures.ts';
import type { Profile } from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { download } from '../browser/download.ts';
import { explain } from '../client.ts';
import { userName } from '../text/user-name.ts';
import { toast } from '../ui/toasts.tsx';
import { readHeld } from './read-held.ts';

/** A second press ends it. */
export function ExportHeld({ projectId, profile }: { projectId: string; profile: Profile }) {
  const [events, setEvents] = useState<number>();
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const run = async (): Promise<void> => {
    const end = new AbortController();
    running.current = end;
    setEvents(0);
    try {
      const file = await readHeld(projectId, profile.id, end.signal, setEvents);
      download(`${userName(profile)}-held.ndjson`, 'application/x-ndjson', file);
      toast('Exported: the file ends with a line of totals');
    } catch (cause) {
      if (!end.signal.aborted) toast(`No file was kept: ${explain(cause).what}`);
    } finally {
      running.current = undefined;
      if (!end.signal.aborted) setEvents(undefined);
    }
  };
  const stop = (): void => {
    running.current?.abort();
    setEvents(undefined);
  };
  if (events === undefined) {
    return (
      <button type="button" onClick={() => void run()}>
        Export user data
      </button>
    );
  }
  return (
    <button type="button" aria-live="polite" onClick={stop}>
      {`Stop the export (${figure(events)} events)`}
    </button>
  );
}
