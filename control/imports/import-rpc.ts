// ImportsService: checks requests about imports and keeps files on disk. Reading and importing them is the runner's, in
// one process of an instance; marks on disk tell it what a person asked for.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { newId } from '../../platform/access/ids.ts';
import type { Clock } from '../../platform/clock.ts';
import { freeBytes } from '../../platform/engines/disk-room.ts';
import type { ImportFiles, LiveImport } from '../../platform/imports/import-files.ts';
import {
  type CancelRequest,
  type CreateRequest,
  type Import,
  ImportOptionsSchema,
  ImportSchema,
  ImportState,
  type StartRequest,
  type UploadRequest,
} from '../../proto/gen/dashboard/imports/v1/imports_pb.js';
import type { CustomerStore } from '../customers/customer-store.ts';
import { refuseUnproven } from '../customers/proven-customer.ts';
import { invalidArgument, lineField, requiredField, timezoneField } from '../request-fields.ts';
import type { SignedInCustomer, SignedInProjectMember } from '../signed-in-customer.ts';

/** Where and whether files may be brought. */
export interface ImportSettings {
  /** Why none may, in a sentence. */
  refusal: string | undefined;
  /** Free space of the disk below which no part of a file is taken. */
  reserveBytes: number;
}

export interface ImportDeps {
  importFiles: ImportFiles;
  importSettings: ImportSettings;
  customers: Pick<CustomerStore, 'get'>;
  clock: Clock;
}

const GiB = 1_073_741_824;
export const maxFileBytes = 2 * GiB;
/** Of an instance: each holds up to 2 GiB of its disk. */
export const maxLiveImports = 16;
const maxFileNameCharacters = 255;
const maxHostnameCharacters = 253;
const maxClientFieldCharacters = 100;
/** As the importer has them; a test compares the two. */
export const importFamilies = [
  ...['millrace', 'posthog', 'mixpanel', 'amplitude', 'segment', 'rudderstack', 'ga4'],
  ...['snowplow', 'matomo', 'umami', 'access-log'],
];

export async function listImports(
  { importFiles, importSettings }: ImportDeps,
  { projectId }: SignedInProjectMember,
): Promise<{ imports: Import[]; refusal: string }> {
  const { refusal = '' } = importSettings;
  return { imports: await importFiles.list(projectId), refusal };
}

export async function createImport(
  deps: ImportDeps,
  request: CreateRequest,
  signedIn: SignedInCustomer & SignedInProjectMember,
): Promise<{ import: Import }> {
  const { importFiles, customers, clock } = deps;
  const offered = offeredOf(deps);
  refuseUnproven(customers, signedIn);
  const now = timestampFromMs(clock.nowMs());
  const record = create(ImportSchema, {
    id: newId(),
    fileName: lineField('fileName', request.fileName, maxFileNameCharacters),
    bytes: bytesField(request.bytes),
    family: familyField(request.family),
    options: optionsField(request),
    state: ImportState.UPLOADING,
    createTime: now,
    stateTime: now,
  });
  await refuseFull(offered, importFiles, Number(record.bytes));
  if ((await importFiles.liveProjects()).length >= maxLiveImports) {
    throw new ConnectError(
      `this instance holds ${maxLiveImports} files that are not imported yet: try again later`,
      Code.ResourceExhausted,
    );
  }
  if (!(await importFiles.begin(signedIn.projectId, record))) {
    throw new ConnectError(
      'another import of this project is under way: cancel it, or wait for its end',
      Code.AlreadyExists,
    );
  }
  return { import: record };
}

export async function uploadImport(
  deps: ImportDeps,
  { id, offset, data }: UploadRequest,
  { projectId }: SignedInProjectMember,
): Promise<{ uploadedBytes: bigint }> {
  const offered = offeredOf(deps);
  const live = await found(deps, id, projectId);
  const { record, isCanceled } = live;
  if (data.length === 0) throw invalidArgument('data', 'is required');
  if (record.state !== ImportState.UPLOADING || isCanceled) {
    throw new ConnectError(
      'the file is whole, or its import was canceled',
      Code.FailedPrecondition,
    );
  }
  if (offset + BigInt(data.length) > record.bytes) {
    throw invalidArgument('data', `ends behind the ${record.bytes} bytes that were announced`);
  }
  await refuseFull(offered, deps.importFiles, data.length);
  const appended = await deps.importFiles.append(live, offset, data);
  switch (appended.kind) {
    case 'appended':
      return { uploadedBytes: BigInt(appended.bytes) };
    case 'elsewhere':
      throw new ConnectError(
        `offset: must be ${appended.bytes}, the bytes that are here`,
        Code.FailedPrecondition,
      );
    case 'gone':
      throw noSuchImport();
    default:
      return appended satisfies never;
  }
}

export async function startImport(
  deps: ImportDeps,
  request: StartRequest,
  { projectId }: SignedInProjectMember,
): Promise<Record<string, never>> {
  offeredOf(deps);
  const live = await found(deps, request.id, projectId);
  if (live.record.state !== ImportState.CHECKED) {
    throw new ConnectError('only a file that was checked can be imported', Code.FailedPrecondition);
  }
  await deps.importFiles.mark(live, 'started');
  return {};
}

export async function cancelImport(
  deps: ImportDeps,
  request: CancelRequest,
  { projectId }: SignedInProjectMember,
): Promise<Record<string, never>> {
  offeredOf(deps);
  await deps.importFiles.mark(await found(deps, request.id, projectId), 'canceled');
  return {};
}

/** Throws failed_precondition where no files may be brought. */
function offeredOf({ importSettings }: ImportDeps): ImportSettings {
  const { refusal } = importSettings;
  if (refusal !== undefined) throw new ConnectError(refusal, Code.FailedPrecondition);
  return importSettings;
}

async function found(
  { importFiles }: ImportDeps,
  id: string,
  projectId: string,
): Promise<LiveImport> {
  requiredField('id', id);
  const live = await importFiles.findLive(projectId);
  if (live?.record.id === id) return live;
  throw noSuchImport();
}

function noSuchImport(): ConnectError {
  return new ConnectError('the project has no such import under way', Code.NotFound);
}

async function refuseFull(
  { reserveBytes }: ImportSettings,
  files: ImportFiles,
  bytes: number,
): Promise<void> {
  await files.prepare();
  if ((await freeBytes(files.directory)) - bytes >= reserveBytes) return;
  throw new ConnectError(
    'the disk has no room for the file beside its reserve (MILLRACE_DISK_RESERVE_MIB)',
    Code.ResourceExhausted,
  );
}

function bytesField(bytes: bigint): bigint {
  if (bytes >= 1n && bytes <= BigInt(maxFileBytes)) return bytes;
  throw invalidArgument(
    'bytes',
    `must be from 1 to ${maxFileBytes} (2 GiB): take parts, or npm run import`,
  );
}

function familyField(family: string): string {
  if (family === '' || importFamilies.includes(family)) return family;
  throw invalidArgument('family', `must be empty or one of ${importFamilies.join(', ')}`);
}

function optionsField({ family, options }: CreateRequest) {
  const { timezone = '', hostname = '', clientField = '', withoutTraits = false } = options ?? {};
  const isOf = (name: string): boolean => family === '' || family === name;
  if (timezone !== '' && !isOf('mixpanel')) {
    throw invalidArgument(
      'options.timezone',
      'is for mixpanel alone: other formats tell their times',
    );
  }
  if ((hostname !== '' || clientField !== '') && !isOf('access-log')) {
    throw invalidArgument('options', 'hostname and clientField are for access-log alone');
  }
  return create(ImportOptionsSchema, {
    timezone: timezone === '' ? '' : timezoneField('options.timezone', timezone),
    hostname: hostname === '' ? '' : lineField('options.hostname', hostname, maxHostnameCharacters),
    clientField:
      clientField === ''
        ? ''
        : lineField('options.clientField', clientField, maxClientFieldCharacters),
    withoutTraits,
  });
}
