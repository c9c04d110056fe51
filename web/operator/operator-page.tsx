// The instance as its operator sees it: whether every accepted event is accounted for, and what it runs on.

import { ConnectError, createClient, Code as FaultCode } from '@connectrpc/connect';
import { bytes, milliseconds } from '../../platform/words/figures.ts';
import {
  type GetHealthResponse,
  OperatorService,
} from '../../proto/gen/dashboard/operator/v1/operator_pb.js';
import { transport } from '../client.ts';
import { usePoll } from '../poll.ts';
import { useResource } from '../resource.ts';
import { Time } from '../time/time.tsx';
import { Code } from '../ui/copy.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { Tabs, useTab } from '../ui/tabs.tsx';
import { DeadLetters } from './dead-letters.tsx';
import { Ledger } from './ledger.tsx';
import { shardRow } from './shard-row.ts';
import { Streams } from './streams.tsx';

const operator = createClient(OperatorService, transport);

const tabs = [
  { id: 'ledger', name: 'Ledger' },
  { id: 'health', name: 'Health' },
  { id: 'dead', name: 'Dead letters' },
] as const;

/** The page asks anew so often while it is in sight. */
const refreshMs = 5_000;

export function Page() {
  const tab = useTab(tabs);
  const health = useResource('operator health', (signal) => operator.getHealth({}, { signal }));
  const ledger = useResource('operator ledger', (signal) =>
    operator.listLedgerHours({ hours: 48 }, { signal }),
  );
  usePoll(refreshMs, () => {
    for (const one of [health, ledger]) if (!one.isLoading) one.reload();
  });
  const fault = health.error ?? ledger.error;
  if (fault && ConnectError.from(fault).code === FaultCode.PermissionDenied) return <NotYours />;
  return (
    <>
      <div class="page-head">
        <h1 tabIndex={-1}>Operator</h1>
        {health.data?.time ? (
          <p class="hint">
            As of <Time at={health.data.time} as="clock" />
          </p>
        ) : null}
      </div>
      <Fault cause={fault} retry={health.reload} />
      <Tabs label="Operator" tabs={tabs} />
      {tab === 'ledger' ? (
        ledger.data ? (
          <Ledger answer={ledger.data} />
        ) : (
          <Loading of="the ledger" />
        )
      ) : null}
      {tab === 'health' ? (
        health.data ? (
          <Health health={health.data} />
        ) : (
          <Loading of="the health" />
        )
      ) : null}
      {tab === 'dead' ? (
        <DeadLetters
          load={(token, signal) => operator.listDeadLetters({ pageToken: token }, { signal })}
        />
      ) : null}
    </>
  );
}

function NotYours() {
  return (
    <section class="empty">
      <h1 tabIndex={-1}>For operators</h1>
      <p>
        This page is for super admins of the instance. Its operator makes one on the machine itself:
      </p>
      <Code text="npm run admin -- grant-super-admin --email you@example.org" what="Command" />
    </section>
  );
}

function Health({ health }: { health: GetHealthResponse }) {
  const { parts, shards, streams, buckets, disk, processes, timeZones } = health;
  return (
    <>
      <section class="card">
        <h2>Parts</h2>
        <ul class="row">
          {parts.map(({ name, ready }) => (
            <li key={name} class="badge" data-tone={ready ? 'good' : 'bad'}>
              {name}: {ready ? 'ready' : 'not ready'}
            </li>
          ))}
        </ul>
        {disk ? (
          <p class={disk.scarce ? 'bad-text' : 'hint'}>
            Disk: {bytes(Number(disk.freeBytes ?? 0n))} free,{' '}
            {bytes(Number(disk.reserveBytes ?? 0n))} are kept in reserve
            {disk.scarce ? '. Events are refused until there is room.' : ''}
          </p>
        ) : null}
        {timeZones ? (
          <p class="hint">
            Time zones follow the rules of {timeZones.version}: the package has{' '}
            {timeZones.packageVersion}, Node {timeZones.nodeVersion || 'does not tell'}
          </p>
        ) : null}
      </section>
      <Shards shards={shards} />
      {streams.length > 0 ? <Streams streams={streams} /> : null}
      <Processes processes={processes} />
      <section class="card">
        <h2>Buckets of records</h2>
        <ul class="row">
          {buckets.map(({ name, usedRatio, scarce }) => (
            <li key={name} class="badge" data-tone={scarce ? 'bad' : ''}>
              {name} {((usedRatio ?? 0) * 100).toFixed(1)}%
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}

function Shards({ shards }: { shards: GetHealthResponse['shards'] }) {
  return (
    <section class="card">
      <h2>Shards</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Shards: table">
        <table>
          <thead>
            <tr>
              <th scope="col">Shard</th>
              <th scope="col">Requests that wait</th>
              <th scope="col">Their bytes</th>
              <th scope="col">Oldest</th>
              <th scope="col">Identity calls that wait</th>
            </tr>
          </thead>
          <tbody>
            {shards.map((shard) => {
              const { waiting, size, oldest, identityCalls } = shardRow(shard);
              return (
                <tr key={shard.shard}>
                  <td>{shard.shard}</td>
                  <td>{waiting}</td>
                  <td>{size}</td>
                  <td>{oldest}</td>
                  <td>{identityCalls}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Processes({ processes }: { processes: GetHealthResponse['processes'] }) {
  return (
    <section class="card">
      <h2>Processes</h2>
      {processes.length === 0 ? <p class="hint">Their figures cannot be read here.</p> : null}
      <table hidden={processes.length === 0}>
        <thead>
          <tr>
            <th scope="col">Process</th>
            <th scope="col">Memory</th>
            <th scope="col">CPU time</th>
            <th scope="col">Since</th>
          </tr>
        </thead>
        <tbody>
          {processes.map(({ name, memoryBytes, cpuSeconds, startTime }) => (
            <tr key={name}>
              <td>{name}</td>
              <td>{memoryBytes === undefined ? '–' : bytes(Number(memoryBytes))}</td>
              <td>{cpuSeconds === undefined ? '–' : milliseconds(cpuSeconds * 1000)}</td>
              <td>
                <Time at={startTime} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
