// Says that parts of a page have no answer, because the service was busy, and who asks again: the page, or its reader.

import type { Resource } from '../resource.ts';
import { Fault } from '../ui/fault.tsx';

/** What failed of a board, or is missing from it. */
export function BoardFault({
  of,
}: {
  of: Pick<Resource<unknown>, 'error' | 'missing' | 'reload'>;
}) {
  return (
    <>
      <Fault cause={of.error} retry={of.reload} />
      <BusyNote of={of} />
    </>
  );
}

export function BusyNote({ of }: { of: Pick<Resource<unknown>, 'missing' | 'reload'> }) {
  const { missing, reload } = of;
  if (!missing) return null;
  return (
    <p class="hint" role="status">
      The service is busy: some tiles have no answer yet.{' '}
      {missing.againSeconds === undefined ? (
        <button type="button" class="link" onClick={reload}>
          Ask again
        </button>
      ) : (
        `The page asks again by itself in ${missing.againSeconds} s.`
      )}
    </p>
  );
}
