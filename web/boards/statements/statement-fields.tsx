// The fields of a tile with a statement, where a board is edited.

import type { Statement } from '../../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { Select, TextArea } from '../../fields/field.tsx';
import { nameOfView, shownAs, viewOf } from './answer-rows.ts';

export function StatementFields(props: {
  statement: Statement;
  onChange: (statement: Statement) => void;
}) {
  const { statement, onChange } = props;
  return (
    <>
      <TextArea
        label="Statement"
        value={statement.sql}
        onValue={(sql) => onChange({ ...statement, sql })}
        rows={10}
        hint="One SELECT without FORMAT. {from:DateTime64}, {to:DateTime64} and {timezone:String} are the board’s; its filters and segments are not applied."
      />
      <Select
        label="Shown as"
        value={nameOfView(statement.view)}
        options={shownAs}
        onValue={(name) => onChange({ ...statement, view: viewOf(name) })}
      />
    </>
  );
}
