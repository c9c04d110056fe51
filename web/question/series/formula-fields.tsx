// What is made of all series of a question: whether they are added up, and formulas with their names.

import { create } from '@bufbuild/protobuf';
import {
  type Formula,
  FormulaSchema,
  type InsightQuerySpec,
  InsightType,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { Field } from '../../fields/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { AddUpTrend } from './add-up.tsx';

/** As the service has it. */
const maxFormulas = 10;

export function FormulaFields(props: {
  spec: InsightQuerySpec;
  onChange: (changes: Partial<InsightQuerySpec>) => void;
}) {
  const { formulas } = props.spec;
  const put = (next: Formula[]): void => props.onChange({ formulas: next });
  const change = (index: number, changes: Partial<Formula>): void =>
    put(formulas.map((one, at) => (at === index ? { ...one, ...changes } : one)));
  return (
    <>
      {props.spec.insightType === InsightType.TRENDS ? <AddUpTrend {...props} /> : null}
      {formulas.map(({ expression, displayName }, index) => (
        <fieldset class="series" key={`${index}`}>
          <legend>Formula {index + 1}</legend>
          <Field
            label={`Formula ${index + 1}`}
            hint="A is the first series, B the second: A / B * 100"
            maxLength={200}
            value={expression}
            onValue={(text) => change(index, { expression: text })}
          />
          <Field
            label={`Name of formula ${index + 1}`}
            placeholder="Conversion in per cent"
            maxLength={150}
            value={displayName}
            onValue={(text) => change(index, { displayName: text })}
          />
          <div class="series-tools">
            <button
              type="button"
              class="quiet"
              aria-label={`Remove formula ${index + 1}`}
              onClick={() => put(formulas.filter((_, at) => at !== index))}
            >
              <Icon name="close" />
            </button>
          </div>
        </fieldset>
      ))}
      {formulas.length < maxFormulas ? (
        <button
          type="button"
          class="add"
          onClick={() => put([...formulas, create(FormulaSchema, {})])}
        >
          <Icon name="plus" />
          Add a formula
        </button>
      ) : null}
    </>
  );
}
