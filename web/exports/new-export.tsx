// What an export shall hold: rows, time, format.

import { useState } from 'preact/hooks';
import { Check, Field, Select } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { SegmentBar } from '../filter/segment-bar.tsx';
import { exportParams, type SegmentFilter } from '../filter/segment-names.ts';
import { type FormatName, formats, keepExport, type WhatName, whats } from './exports-client.ts';

export function NewExport({ projectId, onAsked }: { projectId: string; onAsked: () => void }) {
  const [what, setWhat] = useState<WhatName>('events');
  const [format, setFormat] = useState<FormatName>('parquet');
  const [isFlat, setFlat] = useState(false);
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const [segments, setSegments] = useState<SegmentFilter>({ segments: [], notInSegments: [] });
  const send = async (): Promise<void> => {
    const range = { from: from && `${from}T00:00:00Z`, to: to && dayAfter(to) };
    const params = { ...range, ...exportParams(segments) };
    const isFlatHere = isFlat && what !== 'activity';
    await keepExport(projectId, { what, format, isFlat: isFlatHere, params, conditions: [] });
    onAsked();
  };
  return (
    <Form action="Export" send={send}>
      <Select label="What" value={what} options={whats} onValue={setWhat} />
      <Select label="Format" value={format} options={formats} onValue={setFormat} />
      <div class="row">
        <Field
          label="From"
          hint="A day in UTC; empty: from the beginning."
          type="date"
          value={from}
          onValue={setFrom}
        />
        <Field
          label="To"
          hint="This day included; empty: until now."
          type="date"
          value={to}
          onValue={setTo}
        />
      </div>
      <SegmentBar chosen={segments} onChange={setSegments} />
      {what === 'activity' ? null : (
        <Check
          label="A column for each property, up to 250 of them"
          checked={isFlat}
          onValue={setFlat}
        />
      )}
    </Form>
  );
}

function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString();
}
