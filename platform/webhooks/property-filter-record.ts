// A filter on a property of events as a webhook's record holds it: common.v1.PropertyFilter in protobuf's JSON, which
// is also how the management interface writes it. Its rules are platform/filters/'s.

import { fromJson } from '@bufbuild/protobuf';
import { type PropertyFilter, PropertyFilterSchema } from '../../proto/gen/common/v1/filter_pb.js';
import { hasTexts } from '../broker/record-bucket.ts';
import { isTextList } from '../json.ts';

export interface PropertyFilterRecord {
  property: string;
  /** The name of a FilterOperator. */
  operator: string;
  value?: string;
  values?: readonly string[];
  /** The name of a PropertySource. */
  source?: string;
}

/** Throws where the operator or the source is none that this version knows. */
export function propertyFilterOf({ values = [], ...record }: PropertyFilterRecord): PropertyFilter {
  return fromJson(PropertyFilterSchema, { ...record, values: [...values] });
}

export function isPropertyFilterRecord(value: unknown): value is PropertyFilterRecord {
  if (typeof value !== 'object' || value === null) return false;
  const values: unknown = Reflect.get(value, 'values');
  return (
    hasTexts(value, ['property', 'operator']) &&
    ['value', 'source'].every((name) =>
      ['string', 'undefined'].includes(typeof Reflect.get(value, name)),
    ) &&
    (values === undefined || isTextList(values))
  );
}
