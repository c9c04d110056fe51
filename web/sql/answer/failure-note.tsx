// Why a statement failed, in the service's and the engine's words, with its place in the text.

import {
  failureAdvice,
  failureTitles,
  type Place,
  type StatementFailure,
} from '../statement-failure.ts';

/** `sql`: the text that was run. */
export function FailureNote(props: {
  failure: StatementFailure;
  sql: string;
  onPlace: (place: Place) => void;
}) {
  const { failure, sql, onPlace } = props;
  const { kind, message, place } = failure;
  const line = place && sql.split('\n')[place.line - 1];
  return (
    <div class="fault sql-fault" role="alert">
      <p>
        <strong>{failureTitles[kind]}</strong> {message} {failureAdvice[kind]}
      </p>
      {place && line !== undefined ? (
        <>
          <pre aria-hidden="true">{markedLine(line, place.column)}</pre>
          <button type="button" onClick={() => onPlace(place)}>
            Go to line {place.line}, column {place.column}
          </button>
        </>
      ) : null}
    </div>
  );
}

const before = 60;
const after = 40;

/** The part of the line around the column, and a mark below the column. */
function markedLine(line: string, column: number): string {
  const start = Math.max(0, column - 1 - before);
  const part = line.slice(start, column - 1 + after).replaceAll('\t', ' ');
  return `${part}\n${' '.repeat(Math.max(0, column - 1 - start))}^`;
}
