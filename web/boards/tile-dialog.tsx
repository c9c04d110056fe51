// A tile as fields: a question, a statement or a text.

import { create } from '@bufbuild/protobuf';
import { useState } from 'preact/hooks';
import { type Tile, TileSchema } from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import type { InsightQuerySpec } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { Check, Field, Select, TextArea } from '../fields/field.tsx';
import { Markdown } from '../markdown/markdown.tsx';
import { asForm, formOf, forms, startOf } from '../question/forms.ts';
import { missing } from '../question/missing.ts';
import { QuestionFields } from '../question/question-form.tsx';
import { DrawingField } from '../results/drawings/drawing-field.tsx';
import { idOfDrawing, storedDrawing } from '../results/drawings/tile-drawings.ts';
import { Dialog } from '../ui/dialog.tsx';
import type { DraftTile } from './draft.ts';
import { StatementFields } from './statements/statement-fields.tsx';

type Edited = DraftTile | 'question' | 'text';

export function TileDialog(props: {
  edited: Edited;
  /** A new question counts cookieless visitors where the project has any. */
  hasCookieless: boolean;
  onPut: (tile: Tile) => void;
  onClose: () => void;
}) {
  const [changed, setTile] = useState<Tile>();
  const tile = changed ?? startTile(props.edited, props.hasCookieless);
  const { content } = tile;
  const isNew = typeof props.edited === 'string';
  const gap = content.case === 'insight' ? missing(content.value) : undefined;
  return (
    <Dialog
      title={`${isNew ? 'Add' : 'Edit'} ${kindName(content.case)}`}
      onClose={props.onClose}
      class="tile-dialog"
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (gap === undefined) props.onPut(tile);
        }}
      >
        <Field
          label="Title"
          value={tile.title}
          onValue={(title) => setTile({ ...tile, title })}
          maxLength={150}
        />
        <ContentFields tile={tile} onChange={setTile} />
        {gap ? <p class="hint">{gap}</p> : null}
        <div class="row end">
          <button type="submit" class="primary" disabled={gap !== undefined}>
            {isNew ? 'Add to the board' : 'Apply'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function kindName(kind: Tile['content']['case']): string {
  switch (kind) {
    case 'insight':
      return 'an insight';
    case 'statement':
      return 'a statement';
    case 'markdown':
    case undefined:
      return 'a text';
    default:
      return kind satisfies never;
  }
}

function ContentFields({ tile, onChange }: { tile: Tile; onChange: (tile: Tile) => void }) {
  const { content } = tile;
  switch (content.case) {
    case 'insight':
      return <Question tile={tile} spec={content.value} onChange={onChange} />;
    case 'statement':
      return (
        <StatementFields
          statement={content.value}
          onChange={(value) => onChange({ ...tile, content: { case: 'statement', value } })}
        />
      );
    case 'markdown':
    case undefined:
      return (
        <Text
          text={content.case === 'markdown' ? content.value : ''}
          onText={(value) => onChange({ ...tile, content: { case: 'markdown', value } })}
        />
      );
    default:
      return content satisfies never;
  }
}

function startTile(edited: Edited, includeCookieless: boolean): Tile {
  if (typeof edited !== 'string') return edited.tile;
  const [trends] = forms;
  if (edited === 'text' || !trends)
    return create(TileSchema, { w: 36, h: 8, content: { case: 'markdown', value: '' } });
  return create(TileSchema, {
    title: trends.name,
    w: 36,
    h: 18,
    content: { case: 'insight', value: { ...startOf(trends), includeCookieless } },
  });
}

function Question(props: { tile: Tile; spec: InsightQuerySpec; onChange: (tile: Tile) => void }) {
  const { tile, spec, onChange } = props;
  const form = formOf(spec);
  const put = (next: InsightQuerySpec, title = tile.title): void =>
    onChange({ ...tile, title, content: { case: 'insight', value: next } });
  return (
    <>
      <Select
        label="Form"
        value={form.id}
        options={forms.map(({ id, name }) => ({ value: id, name }))}
        hint={form.says}
        onValue={(id) => {
          const next = forms.find((one) => one.id === id) ?? form;
          // A title that somebody wrote stays.
          put(asForm(spec, next), tile.title === form.name ? next.name : tile.title);
        }}
      />
      <DrawingField
        spec={spec}
        chosen={idOfDrawing(tile.drawing)}
        onValue={(id) => onChange({ ...tile, drawing: storedDrawing(id) })}
      />
      <QuestionFields spec={spec} onChange={put} />
      {form.hasBefore ? (
        <Check
          label="Compare with the previous period"
          checked={tile.compareToPrevious}
          onValue={(compareToPrevious) => onChange({ ...tile, compareToPrevious })}
        />
      ) : null}
    </>
  );
}

function Text({ text, onText }: { text: string; onText: (text: string) => void }) {
  return (
    <>
      <TextArea
        label="Text"
        value={text}
        onValue={onText}
        rows={8}
        hint="Markdown: # heading, - list, **strong**, *soft*, `code`, [link](https://example.org)."
      />
      {text === '' ? null : (
        <section class="card" aria-label="How it will look">
          <Markdown text={text} />
        </section>
      )}
    </>
  );
}
