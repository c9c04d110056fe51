import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { autoColumns } from '../../platform/clickhouse/event-columns.ts';
import { PropertySource } from '../../proto/gen/common/v1/filter_pb.js';
import { SeenPropertySchema } from '../../proto/gen/common/v1/filter_schema_pb.js';
import { inGroups } from './property-groups.ts';

const { AUTO, CUSTOM, PROFILE } = PropertySource;

it('puts properties in the order of the overview', () => {
  const seen = [
    ...(['profile.plan', 'plan'] as const).map((property, at) => ({
      property,
      source: at === 0 ? PROFILE : CUSTOM,
    })),
    ...['$bot', '$os', '$city', '$utmSource', '$browser', '$url'].map((property) => ({
      property,
      source: AUTO,
    })),
  ].map((one) => create(SeenPropertySchema, one));
  expect(inGroups(seen).map(([group, { property }]) => `${group}: ${property}`)).toEqual([
    'Pages: $url',
    'Sources: $utmSource',
    'Places: $city',
    'Devices: $os',
    'Devices: $browser',
    'Events: plan',
    'Events: $bot',
    'Users: profile.plan',
  ]);
});

it('has a group for each property that has a column', () => {
  const seen = autoColumns.map(({ property }) =>
    create(SeenPropertySchema, { property, source: AUTO }),
  );
  expect(inGroups(seen).filter(([group]) => group === 'Events')).toEqual([]);
});
