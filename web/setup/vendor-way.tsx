// The tab of another vendor's SDK: its line, and whether the project takes its requests.

import { Code } from '../ui/copy.tsx';
import { currentProject } from '../workspace.ts';
import type { Of } from './snippets.ts';
import type { VendorSnippet } from './vendor-snippets.ts';

export function VendorWay({ vendor, of }: { vendor: VendorSnippet; of: Of }) {
  const project = currentProject.value;
  const isOn = project?.compat.includes(vendor.id) === true;
  return (
    <>
      <p>
        The SDK of {vendor.name} that a page or a program has sends its events here once its address
        and its key are these:
      </p>
      <Code text={vendor.snippet(of)} what={`The line of ${vendor.name}`} />
      {isOn || !project ? null : (
        <p class="hint">
          The project does not take requests of {vendor.name} yet: switch them on in{' '}
          <a href={`/p/${project.id}/settings`}>its settings</a>.
        </p>
      )}
    </>
  );
}
