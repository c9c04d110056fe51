// The mail that a report would be now: its subject and plain text, and its HTML as a file, for no page of the app shows
// styles of elsewhere.

import { useState } from 'preact/hooks';
import type { Report } from '../../proto/gen/dashboard/reports/v1/reports_pb.js';
import { download } from '../browser/download.ts';
import { inProject } from '../client.ts';
import { Check } from '../fields/field.tsx';
import { useResource } from '../resource.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { reportsClient } from './report-words.ts';

export function Preview(props: { report: Report; projectId: string; onClose: () => void }) {
  const { report, projectId, onClose } = props;
  const [forOthers, setForOthers] = useState(false);
  const { id } = report;
  const found = useResource(`preview ${id} ${forOthers}`, (end) =>
    reportsClient.preview({ id, forOthers }, inProject(projectId, end)),
  );
  const { data } = found;
  return (
    <Dialog title={`Preview of ${report.displayName}`} onClose={onClose}>
      <Check
        label="As recipients see it who are not members"
        checked={forOthers}
        onValue={setForOthers}
      />
      <Fault cause={found.error} retry={found.reload} />
      {found.isLoading ? <Loading of="the mail" /> : null}
      {data && !found.isLoading ? (
        <section aria-label="The mail" class="stack">
          <p>
            <strong>{data.subject}</strong>
          </p>
          <pre tabIndex={0}>{data.text}</pre>
          <p>
            <button
              type="button"
              onClick={() => download(`${report.displayName}.html`, 'text/html', data.html)}
            >
              Download it as HTML
            </button>
          </p>
        </section>
      ) : null}
    </Dialog>
  );
}
