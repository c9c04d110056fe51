// Every attempt of a webhook, newest first; one opens what was answered, and can be repeated.

import { useState } from 'preact/hooks';
import { milliseconds } from '../../platform/words/figures.ts';
import { narrow, useMedia } from '../browser/media.ts';
import { explain } from '../client.ts';
import { Select } from '../fields/field.tsx';
import { usePages } from '../pages.ts';
import { usePoll } from '../poll.ts';
import { address, setQuery } from '../router.ts';
import { Time } from '../time/time.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { Icon } from '../ui/icon.tsx';
import { Table } from '../ui/table.tsx';
import { toast } from '../ui/toasts.tsx';
import { hasRole, projectsOf, Role } from '../workspace.ts';
import { type Attempt, outcomeOf, webhooksApi } from './api.ts';

const outcomes = [
  { value: '', name: 'All outcomes' },
  { value: 'SUCCEEDED', name: 'Delivered' },
  { value: 'FAILED_WILL_RETRY', name: 'Will retry' },
  { value: 'EXHAUSTED', name: 'Given up' },
  { value: 'SKIPPED', name: 'Not sent' },
];

/** The newest attempts are asked for so often while the page is in sight. */
const refreshMs = 3_000;

const columns = [
  {
    name: 'Time',
    width: '130px',
    cell: (row: Attempt) => <Time at={new Date(row.attempt_time)} as="short" />,
  },
  { name: 'Event', cell: (row: Attempt) => row.event_type },
  {
    name: 'Outcome',
    width: '100px',
    cell: (row: Attempt) => (
      <span class="badge" data-tone={outcomeOf(row.status).tone}>
        {outcomeOf(row.status).name}
      </span>
    ),
  },
  {
    name: 'Answer',
    width: 'minmax(80px, 1fr)',
    cell: (row: Attempt) => row.response_code || row.error || '–',
  },
  { name: 'Attempt', width: '70px', isNumber: true, cell: (row: Attempt) => row.attempt },
  {
    name: 'Took',
    width: '80px',
    isNumber: true,
    cell: (row: Attempt) => milliseconds(row.duration_ms),
  },
];

/** For a phone: the rest is in the row's dialog. */
const fewColumns = columns
  .filter(({ name }) => name === 'Time' || name === 'Outcome' || name === 'Attempt')
  .map((column) => ({ ...column, ...(column.name === 'Time' && { width: 'minmax(0, 1fr)' }) }));

export function DeliveryLog({ orgId, webhookId }: { orgId: string; webhookId: string }) {
  const status = address.value.query.get('status') ?? '';
  const projectId = address.value.query.get('of') ?? '';
  const { rows, error, isLoading, more, reload, refresh } = usePages(
    `log ${orgId} ${webhookId} ${status} ${projectId}`,
    async (pageToken) => {
      const query = {
        ...(status && { status }),
        ...(projectId && { project_id: projectId }),
        ...(pageToken && { page_token: pageToken }),
      };
      const page = await webhooksApi.logs(orgId, webhookId, query);
      return { rows: page.logs, next: page.next_page_token };
    },
  );
  const [opened, setOpened] = useState<Attempt>();
  const isNarrow = useMedia(narrow);
  usePoll(refreshMs, refresh);
  return (
    <section class="card deliveries">
      <header>
        <h2>Deliveries of the last 30 days</h2>
        <Filters orgId={orgId} status={status} projectId={projectId} />
      </header>
      <Fault cause={error} retry={reload} />
      {rows.length === 0 && !isLoading && !error ? (
        <p class="hint">
          {status || projectId
            ? 'No deliveries match these filters. '
            : 'Nothing was sent yet. A test, or an event that a subscription names, shows itself here within three seconds.'}
        </p>
      ) : (
        <Table
          label="Deliveries"
          rows={rows}
          columns={isNarrow ? fewColumns : columns}
          rowKey={(row) => `${row.delivery_id} ${row.attempt} ${row.attempt_time}`}
          onOpen={setOpened}
          onEnd={more}
          height="440px"
        />
      )}
      {opened ? (
        <OneAttempt
          attempt={opened}
          onClose={() => setOpened(undefined)}
          redeliver={async () => {
            try {
              await webhooksApi.redeliver(orgId, webhookId, opened.delivery_id);
              toast('Sent once more, under its own id');
              setOpened(undefined);
            } catch (cause) {
              toast(explain(cause).what);
            }
          }}
        />
      ) : null}
    </section>
  );
}

function Filters(props: { orgId: string; status: string; projectId: string }) {
  const projects = projectsOf(props.orgId).map(({ id, displayName }) => ({
    value: id,
    name: displayName,
  }));
  return (
    <div class="row tight">
      <Select
        label="Project"
        isLabelHidden
        value={props.projectId}
        options={[{ value: '', name: 'All projects' }, ...projects]}
        onValue={(value) => setQuery({ of: value })}
      />
      <Select
        label="Outcome"
        isLabelHidden
        value={props.status}
        options={outcomes}
        onValue={(value) => setQuery({ status: value })}
      />
    </div>
  );
}

function OneAttempt(props: {
  attempt: Attempt;
  onClose: () => void;
  redeliver: () => Promise<void>;
}) {
  const { attempt } = props;
  const facts: [string, unknown][] = [
    ['Delivery', attempt.delivery_id],
    ['Event id', attempt.event_id],
    ['Event', attempt.event_type],
    ['Sent to', attempt.endpoint_url],
    ['Attempt', `${attempt.attempt}, ${attempt.trigger.toLowerCase()}`],
    ['Answer', attempt.response_code],
    ['Fault', attempt.error],
    ['Took', milliseconds(attempt.duration_ms)],
  ];
  return (
    <Dialog
      title={`Attempt ${attempt.attempt}: ${outcomeOf(attempt.status).name}`}
      side
      onClose={props.onClose}
    >
      <dl class="facts">
        {facts
          .filter(
            ([, value]) => value !== undefined && value !== null && value !== '' && value !== 0,
          )
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd class="mono">{String(value)}</dd>
            </div>
          ))}
        <div>
          <dt>At</dt>
          <dd>
            <Time at={new Date(attempt.attempt_time)} />
          </dd>
        </div>
        {attempt.next_attempt_time ? (
          <div>
            <dt>Next attempt</dt>
            <dd>
              <Time at={new Date(attempt.next_attempt_time)} />
            </dd>
          </div>
        ) : null}
      </dl>
      {attempt.response_body ? (
        <div class="code">
          <pre>{attempt.response_body}</pre>
        </div>
      ) : null}
      {hasRole(Role.ADMIN) ? (
        <div class="row end">
          <button type="button" class="primary" onClick={() => void props.redeliver()}>
            <Icon name="refresh" />
            Redeliver
          </button>
        </div>
      ) : null}
    </Dialog>
  );
}
