// The profile methods of the running product over HTTP and JSON, for the end-to-end tests.

import { call } from './client.ts';

export interface ReadProfile {
  id: string;
  externalId?: string;
  projectId: string;
  properties?: Record<string, unknown>;
  createTime: string;
  updateTime: string;
  activity: {
    firstSeen?: string;
    lastSeen?: string;
    totalEvents: string;
    pageviews: string;
    sessions: string;
    [field: string]: unknown;
  };
  /** Lists leave it out. */
  merged?: { distinctId: string; mergeTime: string }[];
}

interface Target {
  baseUrl: string;
  publicKey: string;
  privateKey: string;
}

const sdk = '/sdk.profiles.v1.ProfilesSDKService';
const shared = '/shared.profiles.v1.ProfilesService';

/** Throws where the answer is not 200. */
export async function identify(target: Target, request: Record<string, unknown>): Promise<void> {
  await accepted(target, `${sdk}/Identify`, request);
}

/** Throws where the answer is not 200. */
export async function alias(target: Target, request: Record<string, unknown>): Promise<void> {
  await accepted(target, `${sdk}/Alias`, request);
}

/** Answers the status: 404 where the id is merged into no profile. */
export async function unmerge(target: Target, distinctId: string): Promise<number> {
  const path = `${shared}/UnmergeProfile`;
  return (await call(target.baseUrl, path, target.privateKey, { distinctId })).status;
}

async function accepted(target: Target, path: string, request: object): Promise<void> {
  const { status, body } = await call(target.baseUrl, path, target.publicKey, request);
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
}

/** Get; undefined where it answers not_found. */
export function getProfile(target: Target, id: string): Promise<ReadProfile | undefined> {
  return read(target, 'Get', { id });
}

/** GetByExternalId; undefined where it answers not_found. */
export function profileOf(target: Target, externalId: string): Promise<ReadProfile | undefined> {
  return read(target, 'GetByExternalId', { externalId });
}

async function read(
  target: Target,
  method: string,
  request: object,
): Promise<ReadProfile | undefined> {
  const { status, body } = await call(
    target.baseUrl,
    `${shared}/${method}`,
    target.privateKey,
    request,
  );
  if (status === 404) return undefined;
  if (status !== 200) throw new Error(`${method}: ${status} ${JSON.stringify(body)}`);
  return (body as { profile: ReadProfile }).profile;
}

interface ListedPage {
  profiles?: ReadProfile[];
  nextPageToken: string;
}

/** All profiles that List streams. */
export async function listProfiles(target: Target, request: object = {}): Promise<ReadProfile[]> {
  return (await listPages(target, request)).flatMap(({ profiles }) => profiles ?? []);
}

/** The frames of List's stream; throws with the error that ends it. */
async function listPages(target: Target, request: object = {}): Promise<ListedPage[]> {
  return streamed<ListedPage>(target, 'List', request);
}

/** The frames of a stream of ProfilesService; throws with the error that ends it. */
export async function streamed<T>(target: Target, method: string, request: object): Promise<T[]> {
  const message = Buffer.from(JSON.stringify(request));
  const envelope = Buffer.alloc(5);
  envelope.writeUInt32BE(message.length, 1);
  const response = await fetch(`${target.baseUrl}${shared}/${method}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/connect+json',
      'connect-protocol-version': '1',
      'x-api-key': target.privateKey,
    },
    body: Buffer.concat([envelope, message]),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const frames: T[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 5 + bytes.readUInt32BE(at + 1);
    const frame = JSON.parse(bytes.toString('utf8', at + 5, end));
    const isLast = (bytes[at] ?? 0) & 2;
    if (isLast && frame.error !== undefined) throw new Error(JSON.stringify(frame.error));
    if (!isLast) frames.push(frame);
    at = end;
  }
  return frames;
}
