// Beside the editor: names that a press puts into the statement, and statements that a press brings back.

import type { PastStatement } from '../statement-history.ts';
import { type Edit, inserted } from './editor-keys.ts';
import { HistoryList } from './history-list.tsx';
import { ViewList } from './view-list.tsx';

export function NamesAndHistory(props: {
  projectId: string;
  past: readonly PastStatement[];
  onChange: (edit: (field: HTMLTextAreaElement) => Edit) => void;
  onClear: () => void;
}) {
  const { projectId, past, onChange, onClear } = props;
  return (
    <aside class="stack" aria-label="Names and history">
      <ViewList
        projectId={projectId}
        onName={(name, isMap) =>
          onChange((field) => inserted(field.selectionStart, field.selectionEnd, name, isMap))
        }
      />
      <HistoryList
        past={past}
        onChoose={(text) =>
          onChange(({ value }) => ({
            ...{ from: 0, to: value.length, text },
            selection: [text.length, text.length],
          }))
        }
        onClear={onClear}
      />
    </aside>
  );
}
