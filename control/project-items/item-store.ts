// Keeps the items of one kind: lists, finds, makes, changes and deletes them by compare-and-set of the project's list.
// The rules of an item's fields are each kind's own.

import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import {
  findItem,
  type ItemKind,
  type ItemRecord,
  itemOf,
  itemRecord,
  itemsKey,
  noItems,
  type ProjectItemsRecord,
} from '../../platform/project-items/project-items.ts';
import { type Change, changeRecord } from '../../platform/records/change-record.ts';
import type { ProjectsByOrganization } from '../projects/by-organization.ts';
import type { SignedInMember, SignedInProjectMember } from '../signed-in-customer.ts';
import { refuseMoreItemBytes } from './item-bounds.ts';

export type ItemBucket = Pick<
  WatchedBucket<ProjectItemsRecord>,
  'get' | 'ask' | 'create' | 'update'
>;

export interface ItemStoreDeps {
  items: ItemBucket;
  byOrganization: ProjectsByOrganization;
}

/** What a kind is: `noun` names one item in refusals, `max` is how many a project has at most. */
interface KindOfItem<D extends DescMessage> {
  kind: ItemKind;
  schema: D;
  noun: string;
  max: number;
}

type Item<D extends DescMessage> = MessageShape<D> & { id: string };
type Caller = SignedInProjectMember & Pick<SignedInMember, 'organizationId'>;

interface Placed<T> {
  item: T;
  place: number;
}

/** Methods that name an item throw not_found where the project has no such one. */
export interface ItemStore<T> {
  /** In the order in which they were made. */
  list(projectId: string): T[];
  listPlaced(projectId: string): Placed<T>[];
  count(projectId: string): number;
  find(projectId: string, id: string): Promise<T>;
  /** Undefined where the project has no such one. */
  look(projectId: string, id: string): Promise<T | undefined>;
  findPlaced(projectId: string, id: string): Promise<Placed<T>>;
  /** Throws failed_precondition where the project, or its organization, has all that it may have. */
  create(caller: Caller, item: T): Promise<T>;
  /** Writes what `decide` returns for the newest one, as changeRecord does. */
  change(caller: Caller, id: string, decide: (before: T) => T): Promise<T>;
  /** Likewise, though the organization has all that it may have: for changes that take no more room. */
  changeInPlace(projectId: string, id: string, decide: (before: T) => T): Promise<T>;
  delete(projectId: string, id: string): Promise<void>;
}

export function createItemStore<D extends DescMessage>(
  deps: ItemStoreDeps,
  { kind, schema, noun, max }: KindOfItem<D>,
  asItem: (message: MessageShape<D>) => Item<D>,
): ItemStore<Item<D>> {
  const { items } = deps;
  const read = (record: ItemRecord) => asItem(itemOf(schema, record));
  const changeItems = <R>(
    projectId: string,
    decide: (list: ProjectItemsRecord) => Change<ProjectItemsRecord, R>,
  ): Promise<R> => changeList(items, itemsKey(kind, projectId), decide);
  const missing = () => new ConnectError(`there is no such ${noun}`, Code.NotFound);
  const placed = (record: ItemRecord) => ({ item: read(record), place: record.place });
  const find = (projectId: string, id: string) => findItem(items, itemsKey(kind, projectId), id);
  const findPlaced = async (projectId: string, id: string) => {
    const found = await find(projectId, id);
    if (found === undefined) throw missing();
    return placed(found);
  };
  const changeInPlace: ItemStore<Item<D>>['changeInPlace'] = async (projectId, id, decide) => {
    const after = await changeItems<Item<D> | undefined>(projectId, (list) => {
      const before = list.items.find((one) => one.id === id);
      if (before === undefined) return { leave: undefined };
      const next = decide(read(before));
      const changed = itemRecord(schema, next, before.place);
      const all = list.items.map((one) => (one === before ? changed : one));
      return { write: { ...list, items: all }, answer: next };
    });
    if (after === undefined) throw missing();
    return after;
  };
  const records = (projectId: string) => items.get(itemsKey(kind, projectId))?.record.items ?? [];
  return {
    list: (projectId) => records(projectId).map(read),
    listPlaced: (projectId) => records(projectId).map(placed),
    count: (projectId) => records(projectId).length,
    find: async (projectId, id) => (await findPlaced(projectId, id)).item,
    async look(projectId, id) {
      const found = await find(projectId, id);
      return found && read(found);
    },
    findPlaced,
    async create({ projectId, organizationId }, item) {
      refuseMoreItemBytes(deps, organizationId);
      const isMade = await changeItems(projectId, (list) => {
        if (list.items.length >= max) return { leave: false };
        const added = [...list.items, itemRecord(schema, item, freePlace(list))];
        return { write: { ...list, items: added }, answer: true };
      });
      if (isMade) return item;
      const message = `a project has at most ${max} ${kind}: delete some`;
      throw new ConnectError(message, Code.FailedPrecondition);
    },
    async change({ projectId, organizationId }, id, decide) {
      refuseMoreItemBytes(deps, organizationId);
      return changeInPlace(projectId, id, decide);
    },
    changeInPlace,
    async delete(projectId, id) {
      const isGone = await changeItems(projectId, (list) => {
        const others = list.items.filter((one) => one.id !== id);
        if (others.length === list.items.length) return { leave: false };
        return { write: { ...list, items: others }, answer: true };
      });
      if (!isGone) throw missing();
    },
  };
}

function freePlace({ items }: ProjectItemsRecord): number {
  const taken = new Set(items.map(({ place }) => place));
  let place = 0;
  while (taken.has(place)) place += 1;
  return place;
}

/** Changes a list as changeRecord does; a project without one has an empty list. */
async function changeList<R>(
  items: ItemBucket,
  key: string,
  decide: (list: ProjectItemsRecord) => Change<ProjectItemsRecord, R>,
): Promise<R> {
  for (;;) {
    const changed = await changeRecord(items, key, decide);
    if (changed.kind === 'done') return changed.answer;
    const first = decide(noItems);
    if ('leave' in first) return first.leave;
    const written = await items.create(key, first.write);
    if (written.kind === 'written') return first.answer;
  }
}
