// What a file holds, or what was done with it: figures, events by kind and month, and what is left out by which rule.

import { figure, plural } from '../../platform/words/figures.ts';
import type { ImportReport } from '../../proto/gen/dashboard/imports/v1/imports_pb.js';
import { kindNamer } from '../text/namer.ts';

export function Report({ report }: { report: ImportReport }) {
  const { rows, events, people, hasMorePeople, refusals, notes } = report;
  return (
    <div class="stack report">
      <p>
        {plural(rows, 'row')}, <strong>{plural(events, 'event')}</strong> of{' '}
        {hasMorePeople ? 'more than ' : ''}
        {Number(people) === 1 ? 'one user' : `${figure(people)} users`}.
      </p>
      <Kinds report={report} />
      {refusals.length > 0 ? (
        <Refusals report={report} />
      ) : (
        <p class="hint">No row breaks a rule.</p>
      )}
      {notes.map((note) => (
        <p key={note} class="hint">
          {note}
        </p>
      ))}
    </div>
  );
}

const otherKinds = 'Other events';

function Kinds({ report: { months } }: { report: ImportReport }) {
  const kinds = new Map<string, { total: bigint; byMonth: Map<string, bigint> }>();
  for (const { month, kinds: some } of months) {
    for (const { kind, events } of some) {
      const known = kinds.get(kind) ?? { total: 0n, byMonth: new Map<string, bigint>() };
      known.total += events;
      known.byMonth.set(month, events);
      kinds.set(kind, known);
    }
  }
  const sorted = [...kinds].sort(([, one], [, other]) => Number(other.total - one.total));
  const nameOf = kindNamer(kinds.keys());
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Events by month: table">
      <table>
        <thead>
          <tr>
            <th scope="col">Event</th>
            <th scope="col" class="number">
              Events
            </th>
            {months.map(({ month }) => (
              <th key={month} scope="col" class="number">
                {month}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map(([kind, { total, byMonth }]) => (
            <tr key={kind}>
              <th scope="row" title={kind}>
                {kind === '' ? otherKinds : nameOf(kind)}
              </th>
              <td class="number">{figure(total)}</td>
              {months.map(({ month }) => (
                <td key={month} class="number">
                  {figure(byMonth.get(month) ?? 0n)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Refusals({ report: { refusals } }: { report: ImportReport }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Rules that rows break: table">
      <table>
        <thead>
          <tr>
            <th scope="col">Rule</th>
            <th scope="col">The rows</th>
            <th scope="col" class="number">
              How many
            </th>
            <th scope="col">The first</th>
          </tr>
        </thead>
        <tbody>
          {refusals.map(({ why, isKept, count, first }) => (
            <tr key={why}>
              <th scope="row">{why}</th>
              <td>{isKept ? 'stored under another name' : 'left out'}</td>
              <td class="number">{figure(count)}</td>
              <td class="mono">{first.join(', ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
