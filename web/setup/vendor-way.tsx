// The tab of another vendor's SDK: its lines, and whether the project takes its requests.

import { Code } from '../ui/copy.tsx';
import { currentProject } from '../workspace.ts';
import type { Of } from './snippets.ts';
import type { VendorSnippet } from './vendor-snippets.ts';

export function VendorWay({ vendor, of }: { vendor: VendorSnippet; of: Of }) {
  const { id, name, snippet, other } = vendor;
  const project = currentProject.value;
  const isOn = project?.compat.includes(id) === true;
  return (
    <>
      <p>
        The SDK of {name} that a page or a program has sends its events here once its address and
        its key are these:
      </p>
      <Code text={snippet(of)} what={`The line of ${name}`} />
      {other && (
        <>
          <p>{other.where}:</p>
          <Code
            text={other.snippet(of)}
            what={`The line of ${name}, ${other.where.toLowerCase()}`}
          />
        </>
      )}
      {isOn || !project ? null : (
        <p class="hint">
          The project does not take requests of {name} yet: switch them on in{' '}
          <a href={`/p/${project.id}/settings`}>its settings</a>.
        </p>
      )}
    </>
  );
}
