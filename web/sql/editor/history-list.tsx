// The statements of before. A press puts one into the editor.

import { plural } from '../../../platform/words/figures.ts';
import { ago } from '../../time/time.tsx';
import type { PastStatement } from '../statement-history.ts';

export function HistoryList(props: {
  past: readonly PastStatement[];
  onChoose: (sql: string) => void;
  onClear: () => void;
}) {
  const { past, onChoose, onClear } = props;
  return (
    <section class="card" aria-label="History">
      <header>
        <h2>History</h2>
        {past.length > 0 ? (
          <button type="button" class="quiet" onClick={onClear}>
            Clear
          </button>
        ) : null}
      </header>
      <p class="hint">
        {past.length > 0
          ? 'Kept in this browser alone, for you.'
          : 'Statements that were answered are kept here, in this browser alone.'}
      </p>
      <ul class="sql-history">
        {past.map(({ sql, atMs, rows }) => (
          <li key={sql}>
            <button type="button" class="quiet" title={sql} onClick={() => onChoose(sql)}>
              <code class="clip">{sql.replace(/\s+/g, ' ')}</code>
              <small>
                {ago(new Date(atMs))}
                {rows === null ? '' : `, ${plural(rows, 'row')}`}
              </small>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
