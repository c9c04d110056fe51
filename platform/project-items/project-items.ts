// The small records of a project of one kind, such as its annotations: one list, in one key of the bucket. Each item is
// its message as protobuf JSON. Every process keeps these lists in memory.

import {
  type DescMessage,
  fromJson,
  type JsonValue,
  type MessageShape,
  toJson,
} from '@bufbuild/protobuf';
import { hasTexts } from '../broker/record-bucket.ts';
import type { WatchedBucket } from '../broker/watched-bucket.ts';

/** Each is the first part of its lists' keys. */
export const itemKinds = ['annotations', 'goals', 'alerts', 'reports', 'segments'] as const;
export type ItemKind = (typeof itemKinds)[number];

/** One aggregate: all items of a kind in a project, in the order in which they were made. */
export interface ProjectItemsRecord {
  schemaVersion: 1;
  items: readonly ItemRecord[];
}

export interface ItemRecord {
  id: string;
  /** The lowest that no other item of the list had when it was made, from 0. */
  place: number;
  /** Protobuf JSON of the kind's message. */
  item: JsonValue;
}

export const noItems: ProjectItemsRecord = { schemaVersion: 1, items: [] };

export function itemsKey(kind: ItemKind, projectId: string): string {
  return `${kind}.${projectId}`;
}

export function itemRecord<D extends DescMessage>(
  schema: D,
  item: MessageShape<D> & { id: string },
  place: number,
): ItemRecord {
  return { id: item.id, place, item: toJson(schema, item) };
}

/** The message of an item. Fields that this version does not know are left out. */
export function itemOf<D extends DescMessage>(schema: D, { item }: ItemRecord): MessageShape<D> {
  return fromJson(schema, item, { ignoreUnknownFields: true });
}

/** The broker is asked where memory has none, as another process may have just made it. */
export async function findItem(
  items: Pick<WatchedBucket<ProjectItemsRecord>, 'get' | 'ask'>,
  key: string,
  id: string,
): Promise<ItemRecord | undefined> {
  const known = items.get(key)?.record.items.find((one) => one.id === id);
  if (known !== undefined) return known;
  const asked = await items.ask(key);
  return asked.kind === 'found' ? asked.record.items.find((one) => one.id === id) : undefined;
}

/** Narrows a value of the bucket. */
export function readProjectItems(value: unknown): ProjectItemsRecord | undefined {
  return isProjectItems(value) ? value : undefined;
}

function isProjectItems(value: unknown): value is ProjectItemsRecord {
  if (typeof value !== 'object' || value === null) return false;
  const items: unknown = Reflect.get(value, 'items');
  return Reflect.get(value, 'schemaVersion') === 1 && Array.isArray(items) && items.every(isItem);
}

function isItem(value: unknown): value is ItemRecord {
  if (typeof value !== 'object' || value === null || !hasTexts(value, ['id'])) return false;
  const item: unknown = Reflect.get(value, 'item');
  return Number.isInteger(Reflect.get(value, 'place')) && typeof item === 'object' && item !== null;
}
