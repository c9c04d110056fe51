// Has periods written again, as where somebody was erased or files were lost.

import { useState } from 'preact/hooks';
import type { ExportSchedule } from '../../../proto/gen/dashboard/exports/v1/export_schedules_pb.js';
import { inProject } from '../../client.ts';
import { Form } from '../../fields/form.tsx';
import { PeriodField } from './period-field.tsx';
import { cadenceOf, periodTime, schedulesClient } from './schedules-client.ts';

export function RunFrom(props: { projectId: string; one: ExportSchedule; onAsked: () => void }) {
  const { projectId, one, onAsked } = props;
  const [from, setFrom] = useState('');
  const fromTime = periodTime(from);
  const send = async (): Promise<void> => {
    if (fromTime === undefined) return;
    await schedulesClient.run({ id: one.id, fromTime }, inProject(projectId));
    onAsked();
  };
  return (
    <Form action="Write them again" send={send} isReady={fromTime !== undefined}>
      <p>
        This period and all after it are written again: their files take the place of those in the
        bucket.
      </p>
      <PeriodField
        label="From"
        hint="Its manifest goes first and comes last."
        cadence={cadenceOf(one).value}
        value={from}
        onValue={setFrom}
        required
      />
    </Form>
  );
}
