// Which columns the table of stored events has, in which order and how wide: as the address and the browser keep it.

/** A field of events, or a property with a dot before its name; `widthPx` where somebody has set one. */
export type ShownColumn = { id: string; widthPx?: number };

/** More are of no use in a row, and in the address. */
export const maxColumns = 12;
export const minWidthPx = 56;
export const maxWidthPx = 800;
/** Of a property's name; the service takes no longer one. */
const maxIdCharacters = 257;

/** What events have besides properties, in the order in which it is offered. */
export const fieldIds = [
  'time',
  'kind',
  'who',
  'page',
  'place',
  'properties',
  'visit',
  'profile',
  'event',
] as const;

export type FieldId = (typeof fieldIds)[number];

export const usualColumns: readonly ShownColumn[] = fieldIds.slice(0, 6).map((id) => ({ id }));

export function isField(id: string): id is FieldId {
  return fieldIds.some((one) => one === id);
}

/** The column of a property, as events name it. */
export function propertyId(property: string): string {
  return `.${property}`;
}

/** undefined of a field. */
export function propertyOf(id: string): string | undefined {
  return id.startsWith('.') ? id.slice(1) : undefined;
}

export function boundedWidthPx(widthPx: number): number {
  return Math.round(Math.min(maxWidthPx, Math.max(minWidthPx, widthPx)));
}

/**
 * Of a JSON list whose members are an id, or an id and a width; undefined where it is anything else or names no column.
 * What is no column, comes twice or is one too many is left out.
 */
export function readColumns(text: string | null): readonly ShownColumn[] | undefined {
  const list = parsed(text ?? '');
  if (!Array.isArray(list)) return undefined;
  const columns = new Map<string, ShownColumn>();
  for (const one of list) {
    const [id, widthPx]: readonly unknown[] = Array.isArray(one) ? one : [one];
    if (typeof id !== 'string' || columns.has(id) || !isColumn(id)) continue;
    if (columns.size === maxColumns) break;
    const isWidth = typeof widthPx === 'number' && Number.isFinite(widthPx);
    columns.set(id, isWidth ? { id, widthPx: boundedWidthPx(widthPx) } : { id });
  }
  return columns.size > 0 ? [...columns.values()] : undefined;
}

function isColumn(id: string): boolean {
  if (isField(id)) return true;
  return id.startsWith('.') && id.length > 1 && id.length <= maxIdCharacters;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** undefined for the usual columns without widths of somebody's own. */
export function writeColumns(columns: readonly ShownColumn[]): string | undefined {
  const text = written(columns);
  return text === written(usualColumns) ? undefined : text;
}

function written(columns: readonly ShownColumn[]): string {
  return JSON.stringify(columns.map(({ id, widthPx }) => (widthPx ? [id, widthPx] : id)));
}

/** With the column at the end, or without it; never without any, nor with more than fit. */
export function toggled(columns: readonly ShownColumn[], id: string): readonly ShownColumn[] {
  const others = columns.filter((one) => one.id !== id);
  if (others.length < columns.length) return others.length > 0 ? others : columns;
  return columns.length < maxColumns ? [...columns, { id }] : columns;
}

/** `by` -1 is a place further to the front. */
export function moved(
  columns: readonly ShownColumn[],
  id: string,
  by: -1 | 1,
): readonly ShownColumn[] {
  const from = columns.findIndex((one) => one.id === id);
  const [one, other] = [columns[from], columns[from + by]];
  if (!one || !other) return columns;
  return columns.map((column) => (column === one ? other : column === other ? one : column));
}

/** undefined leaves the width to the table. */
export function withWidth(
  columns: readonly ShownColumn[],
  id: string,
  widthPx: number | undefined,
): readonly ShownColumn[] {
  return columns.map((one) => {
    if (one.id !== id) return one;
    return widthPx === undefined ? { id } : { id, widthPx: boundedWidthPx(widthPx) };
  });
}
