// The record of an organization with its members and keys, and the look-ups that every process makes in memory: a
// customer's place, an organization key's owner. Only control/ changes records.

import { hasTexts } from '../broker/record-bucket.ts';
import type { WatchedBucket } from '../broker/watched-bucket.ts';
import { isTextList } from '../json.ts';
import { canonicalEmail } from './email-address.ts';
import { parseOrgKey, sha256 } from './ids.ts';

/** In rising order: a role allows everything that the roles before it allow. */
export const roles = ['viewer', 'member', 'admin'] as const;
export type Role = (typeof roles)[number];

/** Whether the role `has` allows everything that the role `needs` allows. */
export function roleCovers(has: Role, needs: Role): boolean {
  return roles.indexOf(has) >= roles.indexOf(needs);
}

/** What somebody may do in an organization. */
export interface Place {
  role: Role;
  /** The projects in which their role holds; absent: all of the organization, also those made later. */
  projectIds?: readonly string[];
  /** The organization asks for a second factor, and they have none: until they do, nothing opens. */
  lacksSecondFactor?: true;
}

export interface MemberRecord extends Pick<Place, 'role' | 'projectIds'> {
  customerId: string;
}

/** A member's place. An admin manages the organization, so that all its projects are theirs. */
export function placeOfMember({ role, projectIds }: Place): Place {
  return projectIds === undefined || role === 'admin' ? { role } : { role, projectIds };
}

/** Whether a project of the organization is there for somebody with this place. Every check of a project asks here. */
export function mayUse({ projectIds }: Pick<Place, 'projectIds'>, projectId: string): boolean {
  return projectIds === undefined || projectIds.includes(projectId);
}

/** Whether both have a project in common. Who has a few projects is shown no people of the other ones. */
export function shareProject(
  one: Pick<Place, 'projectIds'>,
  other: Pick<Place, 'projectIds'>,
): boolean {
  if (one.projectIds === undefined || other.projectIds === undefined) return true;
  return other.projectIds.some((projectId) => mayUse(one, projectId));
}

export interface InvitationRecord {
  id: string;
  email: string;
  role: Role;
  /** As a member's. */
  projectIds?: readonly string[];
  /** SHA-256 of the secret part of the token in the newest mail. */
  secretHash: string;
  createTime: string;
  /** When the newest mail was sent. */
  sendTime: string;
  expireTimeMs: number;
  /**
   * Whether the newest mail left by the instance's own mail server. A mail server of the organization sees the token:
   * its owner could accept with any address.
   */
  provesAddress?: boolean;
  /**
   * Whether an admin was shown the newest link, because no mail server is set: whoever has it may join, and has proven
   * no address.
   */
  isHandedOver?: boolean;
}

export interface OrgKeyRecord {
  id: string;
  displayName: string;
  role: Role;
  /** SHA-256 of the raw key. */
  hash: string;
  createTime: string;
}

/** An organization's own mail server; its secrets are sealed by the instance key. */
export type EmailProviderRecord = {
  fromAddress: string;
  replyTo?: string;
  /** Whether the newest change came from this machine alone. Then the server may be in its networks too. */
  setOnThisMachine?: true;
  createTime: string;
  updateTime: string;
} & (
  | {
      kind: 'smtp';
      host: string;
      port: number;
      username: string;
      sealedPassword?: string;
      useTls: boolean;
    }
  | { kind: 'resend'; sealedApiKey: string }
);

/** One aggregate: an organization with its members, invitations and keys. Times are RFC 3339. */
export interface OrganizationRecord {
  schemaVersion: 1;
  id: string;
  displayName: string;
  /** The customer who made it, a member or not; absent in records of older versions, and where the operator did. */
  creatorId?: string;
  createTime: string;
  updateTime: string;
  members: readonly MemberRecord[];
  invitations?: readonly InvitationRecord[];
  /** SHA-256 of an invited address to the times of its mails in the last 24 hours, in ms since the epoch. */
  inviteSends?: Readonly<Record<string, readonly number[]>>;
  keys?: readonly OrgKeyRecord[];
  emailProvider?: EmailProviderRecord;
  /** Members need a second factor. */
  requiresSecondFactor?: true;
}

export interface OrganizationDirectory {
  get(id: string): OrganizationRecord | undefined;
  /** A member's place; undefined for others. */
  placeOf(organizationId: string, customerId: string): Place | undefined;
  /** As ownerOf tells of the organization's record; undefined where there is no such organization. */
  ownerOf(organizationId: string): string | undefined;
  /** How many owners the instance has. */
  owners(): number;
  /** Ids of the organizations that the customer is a member of. */
  organizationsOf(customerId: string): readonly string[];
  /** Whether an organization's invitation to the address is open. */
  isInvited(email: string, nowMs: number): boolean;
  findKey(rawKey: string): { organizationId: string; keyId: string; role: Role } | undefined;
  /** Milliseconds since memory was last known to hold everything that the broker holds. */
  unconfirmedMs(): number;
}

/** Follows the bucket as long as the process runs. */
export function createOrganizationDirectory(
  bucket: Pick<WatchedBucket<OrganizationRecord>, 'get' | 'records' | 'onChange' | 'unconfirmedMs'>,
): OrganizationDirectory {
  const held = new Map<string, { record: OrganizationRecord; places: Map<string, Place> }>();
  const memberships = new Map<string, readonly string[]>();
  /** The organizations that invite each address, by its canonical form; their invitations may have expired. */
  const inviters = new Map<string, Set<string>>();
  const keys = new Map<string, { organizationId: string; keyId: string; role: Role }>();
  const owners = new Map<string, number>();

  const forget = (id: string): void => {
    const before = held.get(id);
    if (before === undefined) return;
    held.delete(id);
    countOwner(owners, before.record, -1);
    for (const { hash } of before.record.keys ?? []) keys.delete(hash);
    for (const { email } of before.record.invitations ?? []) {
      const ids = inviters.get(canonicalEmail(email));
      ids?.delete(id);
      if (ids?.size === 0) inviters.delete(canonicalEmail(email));
    }
    for (const customerId of before.places.keys()) {
      const left = (memberships.get(customerId) ?? []).filter((other) => other !== id);
      if (left.length === 0) memberships.delete(customerId);
      else memberships.set(customerId, left);
    }
  };
  const learn = (record: OrganizationRecord): void => {
    const { id } = record;
    const places = new Map<string, Place>();
    for (const member of record.members) places.set(member.customerId, placeOfMember(member));
    for (const customerId of places.keys()) {
      memberships.set(customerId, [...(memberships.get(customerId) ?? []), id]);
    }
    for (const key of record.keys ?? []) {
      keys.set(key.hash, { organizationId: id, keyId: key.id, role: key.role });
    }
    for (const invitation of record.invitations ?? []) {
      const email = canonicalEmail(invitation.email);
      inviters.set(email, (inviters.get(email) ?? new Set()).add(id));
    }
    held.set(id, { record, places });
    countOwner(owners, record, 1);
  };
  for (const [, record] of bucket.records()) learn(record);
  bucket.onChange((id) => {
    forget(id);
    const now = bucket.get(id);
    if (now !== undefined) learn(now.record);
  });

  return {
    get: (id) => held.get(id)?.record,
    placeOf: (organizationId, customerId) => held.get(organizationId)?.places.get(customerId),
    ownerOf: (id) => ownerOf(held.get(id)?.record),
    owners: () => owners.size,
    organizationsOf: (customerId) => memberships.get(customerId) ?? [],
    isInvited: (email, nowMs) =>
      [...(inviters.get(email) ?? [])].some((id) =>
        held
          .get(id)
          ?.record.invitations?.some(
            (invitation) =>
              canonicalEmail(invitation.email) === email && invitation.expireTimeMs > nowMs,
          ),
      ),
    findKey: (rawKey) => (parseOrgKey(rawKey) ? keys.get(sha256(rawKey)) : undefined),
    unconfirmedMs: () => bucket.unconfirmedMs(),
  };
}

/** Whose organization it is: its creator's, so that one customer's organizations share what an owner may use. */
function ownerOf(record: OrganizationRecord): string;
function ownerOf(record: OrganizationRecord | undefined): string | undefined;
function ownerOf(record: OrganizationRecord | undefined): string | undefined {
  return record?.creatorId ?? record?.id;
}

/** `owners` has the number of organizations of each. */
function countOwner(owners: Map<string, number>, record: OrganizationRecord, more: 1 | -1): void {
  const owner = ownerOf(record);
  const count = (owners.get(owner) ?? 0) + more;
  if (count > 0) owners.set(owner, count);
  else owners.delete(owner);
}

/**
 * Whose a project is, for bounds on what one owner may take of the instance. Where all organizations have one owner
 * there is nobody to leave a share to but the owner's other projects: then each project counts for itself.
 */
export function createOwnerOfProject(
  projects: { get(projectId: string): { record: { organizationId: string } } | undefined },
  organizations: Pick<OrganizationDirectory, 'ownerOf' | 'owners'>,
): (projectId: string) => string {
  return (projectId) => {
    if (organizations.owners() <= 1) return projectId;
    const organizationId = projects.get(projectId)?.record.organizationId;
    return (organizationId && organizations.ownerOf(organizationId)) ?? organizationId ?? projectId;
  };
}

/** Narrows a value of the bucket. Fields that this version does not know are kept. */
export function readOrganization(value: unknown): OrganizationRecord | undefined {
  return isOrganization(value) ? value : undefined;
}

function isOrganization(value: unknown): value is OrganizationRecord {
  if (typeof value !== 'object' || value === null) return false;
  if (!hasTexts(value, ['id', 'displayName', 'createTime', 'updateTime'])) return false;
  if (Reflect.get(value, 'schemaVersion') !== 1) return false;
  if (!['string', 'undefined'].includes(typeof Reflect.get(value, 'creatorId'))) return false;
  const lists = ['invitations', 'keys'].map((name): unknown => Reflect.get(value, name) ?? []);
  const members: unknown = Reflect.get(value, 'members');
  return (
    Array.isArray(members) &&
    members.every((member) => hasPlace(member, ['customerId'])) &&
    lists.every(Array.isArray) &&
    lists.flat().every((one) => hasPlace(one, ['id', 'createTime']))
  );
}

function hasPlace(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  // A limit in an unknown form is still one: the record must not pass for one without.
  const projectIds: unknown = Reflect.get(value, 'projectIds') ?? [];
  return (
    hasTexts(value, [...names, 'role']) &&
    roles.some((role) => role === Reflect.get(value, 'role')) &&
    isTextList(projectIds)
  );
}
