// The steps of enrichment for one event outside of the pipeline: an import sends its events with a private key, for
// which the pipeline derives nothing, and describes them by this before. So one list of steps describes a visitor,
// however a view came.

import { propertyMaps } from '../../platform/clickhouse/event-columns.ts';
import {
  EventRow,
  findSlot,
  type PropertyScalar,
  slotProperties,
  variantIndex,
} from './event-row.ts';
import { enrich, type RequestFacts } from './steps.ts';
import { createAgentParser } from './user-agent.ts';

/** A common.v1.PropertyValue in JSON. */
export type DescribedValue =
  | { stringValue: string }
  | { intValue: string }
  | { doubleValue: number }
  | { boolValue: boolean };

export type DescribeEvent = (
  sent: Readonly<Record<string, string>>,
  facts: Omit<RequestFacts, 'credential'>,
) => Record<string, DescribedValue>;

/**
 * Returns a function from the auto properties that a browser would send, all texts, and the facts of its request to the
 * auto properties with which the event would be stored. It remembers `maxAgents` agents.
 */
export function createDescribeEvent(maxAgents: number): DescribeEvent {
  const parseAgent = createAgentParser(maxAgents);
  const row = new EventRow();
  return (sent, facts) => {
    row.reset();
    for (const [name, text] of Object.entries(sent)) {
      const slot = findSlot(name);
      if (slot !== undefined && slot < row.texts.length) row.putText(slot, text);
      else row.add(name, variantIndex.stringValue, text);
    }
    const request = { facts: { ...facts, credential: 'public' as const }, rows: [row], count: 1 };
    enrich(request, parseAgent);
    return propertiesOf(row);
  };
}

function propertiesOf(row: EventRow): Record<string, DescribedValue> {
  const properties: Record<string, DescribedValue> = {};
  for (const [slot, text] of row.texts.entries()) {
    const name = slotProperties[slot];
    if (text !== '' && name !== undefined) properties[name] = { stringValue: text };
  }
  for (let index = 0; index < row.count; index++) {
    properties[row.keys[index] ?? ''] = jsonValue(
      row.variants[index] ?? 0,
      row.values[index] ?? '',
    );
  }
  return properties;
}

/** No step puts a moment. */
function jsonValue(variant: number, value: PropertyScalar): DescribedValue {
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'string') return { stringValue: value };
  const isInt = propertyMaps[variant]?.variant === 'intValue';
  return isInt ? { intValue: String(value) } : { doubleValue: Number(value) };
}
