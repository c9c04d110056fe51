// The fields that one form of a question has and no other. Their code is loaded where a form has any: a page draws
// nothing of the question before, because what came later would move what stands below.

import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import type { InsightQuerySpec } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { Loaded } from '../../ui/loaded.tsx';
import { type FormId, formOf } from '../forms.ts';

type Fields = {
  spec: InsightQuerySpec;
  onChange: (changes: Partial<InsightQuerySpec>) => void;
};

/** undefined until they are loaded. */
const known = signal<ComponentType<Fields> | undefined>(undefined);

/** Forms whose fields are those of every question. */
const plainForms: readonly FormId[] = ['trends', 'segmentation', 'lifecycle'];

/** Whether nothing of the form is still to be loaded. */
export function areFieldsLoaded(id: FormId): boolean {
  return known.value !== undefined || plainForms.includes(id);
}

export async function loadOwnFields(): Promise<ComponentType<Fields>> {
  const { SpecialFields } = await import('./special-fields.tsx');
  known.value = SpecialFields;
  return SpecialFields;
}

export function OwnFields(props: Fields) {
  if (plainForms.includes(formOf(props.spec).id)) return null;
  if (known.value) return <known.value {...props} />;
  return <Loaded load={loadOwnFields} name="the fields" with={props} />;
}
