// Saves a question as a tile of a board.

import { create } from '@bufbuild/protobuf';
import { TileSchema } from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { boardTime } from '../question/board-time.ts';
import type { QuestionForm } from '../question/forms.ts';
import { SaveTileDialog } from '../questions/save-tile-dialog.tsx';
import { storedDrawing } from '../results/drawings/tile-drawings.ts';
import { questionName } from '../results/names.ts';
import { address } from '../router.ts';
import type { QuestionState } from './question-state.ts';

/** Half the width of a board, and a height for a chart. */
const size = { w: 36, h: 18 };

export function SaveDialog(props: {
  projectId: string;
  form: QuestionForm;
  question: QuestionState;
  onClose: () => void;
}) {
  const { projectId, form, question, onClose } = props;
  const { spec, range } = question;
  const drawing = storedDrawing(address.peek().query.get('drawing') ?? undefined);
  return (
    <SaveTileDialog
      projectId={projectId}
      title={questionName(form.name, spec)}
      tileOf={(title) =>
        create(TileSchema, { ...size, title, drawing, content: { case: 'insight', value: spec } })
      }
      timeRange={boardTime(address.peek().query, range)}
      onClose={onClose}
    />
  );
}
