// Events and filters on them in the JSON of questions and lists.

export interface Filter {
  property: string;
  /** Without FILTER_OPERATOR_. */
  operator: string;
  value?: string;
  values?: string[];
  /** Without PROPERTY_SOURCE_. */
  source?: 'AUTO' | 'CUSTOM' | 'PROFILE';
}

export interface EventFilter {
  kind?: string;
  /** In place of `kind`. */
  kinds?: string[];
  filters?: Filter[];
}

export function eventFilterOf(event: EventFilter | undefined): Record<string, unknown> | undefined {
  return event && { ...event, filters: event.filters?.map(filterOf) };
}

export function filterOf({ operator, source, ...rest }: Filter): Record<string, unknown> {
  return {
    ...rest,
    operator: `FILTER_OPERATOR_${operator}`,
    source: source && `PROPERTY_SOURCE_${source}`,
  };
}
