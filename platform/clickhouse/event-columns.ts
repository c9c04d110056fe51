// The place of each property in the table `events`: a well-known auto property has its own column, every other property
// is in the map of its type. pipeline writes by this list, query reads by it; it knows neither Arrow nor SQL.

/** An auto property that has its own column. */
interface AutoColumn {
  readonly column: string;
  readonly property: string;
  /** The column is LowCardinality(String), else String. */
  readonly lowCardinality: boolean;
}

interface PackedColumn {
  readonly column: string;
  /** Names that lie beside each other in `autoColumns`. */
  readonly of: readonly (typeof autoColumns)[number]['column'][];
}

/**
 * Every auto property that has a column. The column holds non-empty strings, and '' means absent. An empty string or a
 * value of another type goes into the map of its type under the same key, so that reading back is exact.
 */
export const autoColumns = [
  { column: 'browser', property: '$browser', lowCardinality: true },
  { column: 'browser_version', property: '$browserVersion', lowCardinality: true },
  { column: 'os', property: '$os', lowCardinality: true },
  { column: 'os_version', property: '$osVersion', lowCardinality: true },
  { column: 'device', property: '$device', lowCardinality: true },
  { column: 'device_type', property: '$deviceType', lowCardinality: true },
  { column: 'country', property: '$country', lowCardinality: true },
  { column: 'region', property: '$region', lowCardinality: true },
  { column: 'city', property: '$city', lowCardinality: true },
  { column: 'continent', property: '$continent', lowCardinality: true },
  { column: 'timezone', property: '$timezone', lowCardinality: true },
  { column: 'hostname', property: '$hostname', lowCardinality: true },
  { column: 'pathname', property: '$pathname', lowCardinality: true },
  { column: 'url', property: '$url', lowCardinality: false },
  { column: 'referrer', property: '$referrer', lowCardinality: true },
  { column: 'referrer_domain', property: '$referrerDomain', lowCardinality: true },
  { column: 'channel', property: '$channel', lowCardinality: true },
  { column: 'utm_source', property: '$utmSource', lowCardinality: true },
  { column: 'utm_medium', property: '$utmMedium', lowCardinality: true },
  { column: 'utm_campaign', property: '$utmCampaign', lowCardinality: true },
  { column: 'utm_term', property: '$utmTerm', lowCardinality: true },
  { column: 'utm_content', property: '$utmContent', lowCardinality: true },
  { column: 'ai_assistant', property: '$aiAssistant', lowCardinality: true },
] as const satisfies readonly AutoColumn[];

/**
 * Columns of `events` that hold several of these in one text: a merge costs by the column. Each text is '' where all of
 * its values are, else the values, in the order of `autoColumns`, with `packGap` between them. The values' own columns
 * are parts of it (sql/migrations/0019_packed_columns.sql): every reader may name them, and no row is inserted by them.
 */
export const packedColumns = [
  { column: 'agent', of: ['browser_version', 'os', 'os_version', 'device', 'device_type'] },
  { column: 'place', of: ['country', 'region', 'city', 'continent', 'timezone'] },
  {
    column: 'campaign',
    of: ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content', 'ai_assistant'],
  },
] as const satisfies readonly PackedColumn[];

/** A byte that no UTF-8 text holds. */
export const packGap = 0xff;

/** The name of an auto property to the column of its non-empty strings. */
export const columnOfProperty: ReadonlyMap<string, AutoColumn> = new Map(
  autoColumns.map((column) => [column.property, column]),
);

/**
 * The map of each type, for auto and custom properties together: their keys cannot collide, because only keys of auto
 * properties start with '$'. `variant` is the field of common.v1.PropertyValue, `sqlType` the map's value type.
 */
export const propertyMaps = [
  { column: 'string_properties', variant: 'stringValue', sqlType: 'String' },
  { column: 'int_properties', variant: 'intValue', sqlType: 'Int64' },
  { column: 'double_properties', variant: 'doubleValue', sqlType: 'Float64' },
  { column: 'bool_properties', variant: 'boolValue', sqlType: 'Bool' },
  { column: 'time_properties', variant: 'timestampValue', sqlType: "DateTime64(3, 'UTC')" },
] as const;

/** The variants of common.v1.PropertyValue, in the order of `propertyMaps`. */
export type PropertyVariant = (typeof propertyMaps)[number]['variant'];
