// The conservation ledger: accepted = stored + duplicates + dead letters, and the difference, hour by hour.

import type { ComponentChildren } from 'preact';
import { figure } from '../../platform/words/figures.ts';
import type {
  LedgerCounts,
  ListLedgerHoursResponse,
} from '../../proto/gen/dashboard/operator/v1/operator_pb.js';
import { DataTable } from '../charts/data-table.tsx';
import { formatTime, Time, toDate } from '../time/time.tsx';

const count = (value: bigint | undefined): bigint => value ?? 0n;

export function Ledger({ answer }: { answer: ListLedgerHoursResponse }) {
  const { totals, hours, queuedMessages } = answer;
  const isWhole = count(totals?.difference) === 0n && count(totals?.lostMessages) === 0n;
  return (
    <section class="card">
      <header>
        <h2>Every accepted event</h2>
        <span class="badge" data-tone={isWhole ? 'good' : 'bad'}>
          {isWhole ? 'all accounted for' : 'a difference: look into the log'}
        </span>
      </header>
      <p class="hint">
        Accepted = stored + duplicates + dead letters. Events in flight join when their batch is
        done
        {queuedMessages === undefined ? '.' : `: ${figure(queuedMessages)} requests wait now.`}
      </p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Ledger: table">
        <table>
          <thead>
            <tr>
              <th scope="col">Hour</th>
              <th scope="col" class="number">
                Accepted
              </th>
              <th scope="col" class="number">
                Stored
              </th>
              <th scope="col" class="number">
                Duplicates
              </th>
              <th scope="col" class="number">
                Dead letters
              </th>
              <th scope="col" class="number">
                Difference
              </th>
            </tr>
          </thead>
          <tbody>
            <Row name="In all" counts={totals} />
            {hours.map(({ startTime, counts }) => (
              <Row key={startTime?.seconds} name={<Time at={startTime} />} counts={counts} />
            ))}
          </tbody>
        </table>
      </div>
      <DataTable
        label="Ledger"
        grid={{
          columns: ['hour', 'accepted', 'stored', 'duplicates', 'dead letters', 'difference'],
          rows: hours.map(({ startTime, counts }) => [
            startTime ? formatTime(toDate(startTime), 'short', 'UTC') : '',
            Number(count(counts?.accepted)),
            Number(count(counts?.stored)),
            Number(count(counts?.duplicates)),
            Number(count(counts?.deadLetters)),
            Number(count(counts?.difference)),
          ]),
        }}
      />
    </section>
  );
}

function Row(props: { name: ComponentChildren; counts: LedgerCounts | undefined }) {
  const { counts } = props;
  const difference = count(counts?.difference);
  return (
    <tr>
      <th scope="row">{props.name}</th>
      <td class="number">{figure(count(counts?.accepted))}</td>
      <td class="number">{figure(count(counts?.stored))}</td>
      <td class="number">{figure(count(counts?.duplicates))}</td>
      <td class="number">{figure(count(counts?.deadLetters))}</td>
      <td class={`number ${difference === 0n ? 'good-text' : 'bad-text'}`}>{figure(difference)}</td>
    </tr>
  );
}
