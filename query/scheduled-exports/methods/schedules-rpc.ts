// ExportSchedulesService: makes scheduled exports, tells of them, changes them, forgets them. Writing their files is
// the turns' (take-turn.ts), in whatever process has the lease. The class is the dashboard's and changes need an admin:
// who may set one up has everything go to a server of their own, for as long as nobody looks.

import { randomUUID } from 'node:crypto';
import type { BlockList } from 'node:net';
import { Code, ConnectError } from '@connectrpc/connect';
import { createTokenBuckets } from '../../../platform/access/token-bucket.ts';
import type { BucketRoom } from '../../../platform/broker/bucket-room.ts';
import { BucketFull } from '../../../platform/broker/record-bucket.ts';
import type { Clock } from '../../../platform/clock.ts';
import {
  type BucketTarget,
  type ScheduleRecord,
  scheduleSecretPurpose,
} from '../../../platform/exports/schedule-record.ts';
import type { SecretBox } from '../../../platform/secrets/secret-box.ts';
import type {
  CreateRequest,
  DeleteRequest,
  ExportSchedule,
  GetRequest,
  RunRequest,
  UpdateRequest,
} from '../../../proto/gen/dashboard/exports/v1/export_schedules_pb.js';
import { ExportWhat } from '../../../proto/gen/shared/exports/v1/exports_pb.js';
import { checkQuery, queryOf, type ReadSegments } from '../../kept-exports/export-query.ts';
import { periodOf } from '../periods.ts';
import type { ObjectStore, OpenTarget } from '../store/object-store.ts';
import { tryBucket } from '../store/try-bucket.ts';
import {
  bucketFields,
  cadenceField,
  checkScheduled,
  keyIdField,
  momentField,
  nameField,
  secretField,
} from './schedule-fields.ts';
import {
  changeSchedule,
  findSchedule,
  keepSchedule,
  livingIn,
  placesOf,
  refuseTaken,
  type ScheduleBucket,
} from './schedule-places.ts';
import { scheduleView } from './schedule-view.ts';

export interface SchedulesRpcParts {
  bucket: ScheduleBucket;
  box: Pick<SecretBox, 'seal' | 'open'>;
  readSegments: ReadSegments;
  openStore(target: OpenTarget): ObjectStore;
  /** Whether the customer has proven to read the mail of their address. */
  isProven(customerId: string): boolean;
  allowed: BlockList;
  /** For new records alone: what is told of one must be written though the bucket is nearly full. */
  bucketRoom?: Pick<BucketRoom, 'isScarce' | 'refused'> | undefined;
  clock: Clock;
}

export interface ScheduleCaller {
  projectId: string;
  customerId: string;
}

type Answer = { schedule: ExportSchedule };

/** Of a project: so many at once, then one a minute. Each try is three requests to somebody's server. */
const triesAtOnce = 10;
const triesPerSecond = 1 / 60;

type TryTarget = (
  projectId: string,
  target: Omit<BucketTarget, 'sealedSecret'>,
  secret: string,
) => Promise<void>;

export function createSchedulesRpc(parts: SchedulesRpcParts) {
  const { bucket } = parts;
  const tryTarget = createTryTarget(parts);
  const answerOf = (record: ScheduleRecord): Answer => ({ schedule: scheduleView(record) });
  return {
    list({ projectId }: ScheduleCaller): { schedules: ExportSchedule[] } {
      const records = placesOf(projectId).flatMap((key) => livingIn(bucket.get(key)?.record));
      const sorted = records.sort((one, other) => one.createMs - other.createMs);
      return { schedules: sorted.map(scheduleView) };
    },
    async get({ id }: GetRequest, { projectId }: ScheduleCaller): Promise<Answer> {
      return answerOf((await findSchedule(bucket, projectId, id)).record);
    },
    async create(request: CreateRequest, caller: ScheduleCaller): Promise<Answer> {
      return answerOf(await createSchedule(parts, tryTarget, request, caller));
    },
    async update(request: UpdateRequest, { projectId }: ScheduleCaller): Promise<Answer> {
      return answerOf(await updateSchedule(parts, tryTarget, request, projectId));
    },
    async delete({ id }: DeleteRequest, { projectId }: ScheduleCaller): Promise<object> {
      await changeSchedule(bucket, projectId, id, (record) => forgotten(record, parts.clock));
      return {};
    },
    async run({ id, fromTime }: RunRequest, { projectId }: ScheduleCaller): Promise<Answer> {
      const next = (record: ScheduleRecord) => runAgain(record, fromTime, parts.clock);
      return answerOf(await changeSchedule(bucket, projectId, id, next));
    },
  };
}

function createTryTarget({ openStore, clock }: SchedulesRpcParts): TryTarget {
  const tries = createTokenBuckets({ perSecond: triesPerSecond, burst: triesAtOnce, clock });
  return async (projectId, target, secret) => {
    const waitSeconds = tries.take(projectId, 1);
    if (waitSeconds > 0) {
      throw new ConnectError('buckets were tried too often', Code.ResourceExhausted, {
        'retry-after': String(waitSeconds),
      });
    }
    const store = openStore({ ...target, secret });
    await tryBucket(store, target.prefix).finally(() => store.close());
  };
}

async function createSchedule(
  parts: SchedulesRpcParts,
  tryTarget: TryTarget,
  request: CreateRequest,
  { projectId, customerId }: ScheduleCaller,
): Promise<ScheduleRecord> {
  const { bucket, box, clock } = parts;
  if (!parts.isProven(customerId)) throw unproven();
  const cadence = cadenceField(request.cadence);
  const displayName = nameField(request.displayName);
  const target = bucketFields(request.bucket, parts.allowed);
  const secret = secretField(request.secretAccessKey);
  checkScheduled(request.query, cadence);
  const query = await checkQuery(projectId, request.query, parts.readSegments);
  const nowMs = clock.nowMs();
  const what = request.query?.what;
  const of = { isOfEvents: what === ExportWhat.EVENTS, nowMs };
  const startMs = momentField('startTime', request.startTime, cadence, of);
  refuseScarce(parts.bucketRoom);
  refuseTaken(bucket, projectId, target, what);
  await tryTarget(projectId, target, secret);
  const id = randomUUID();
  const record: ScheduleRecord = {
    ...{ schemaVersion: 1, id, displayName, query, cadence, customerId },
    target: { ...target, sealedSecret: box.seal(secret, scheduleSecretPurpose(id)) },
    ...{ state: 'active', reason: '', createMs: nowMs, updateMs: nowMs },
    nextFromMs: startMs ?? periodOf(cadence, nowMs).fromMs,
    ...{ lastError: '', lastErrorMs: 0, leaseEndMs: 0 },
    ...afresh,
  };
  await keepSchedule(bucket, projectId, record);
  return record;
}

async function updateSchedule(
  { bucket, box, clock }: SchedulesRpcParts,
  tryTarget: TryTarget,
  request: UpdateRequest,
  projectId: string,
): Promise<ScheduleRecord> {
  const { id, paused } = request;
  const name = request.displayName === undefined ? undefined : nameField(request.displayName);
  const key = keyFields(request);
  if (key !== undefined) {
    const { target } = (await findSchedule(bucket, projectId, id)).record;
    await tryTarget(projectId, { ...target, accessKeyId: key.accessKeyId }, key.secret);
  }
  return changeSchedule(bucket, projectId, id, (record) => {
    const { accessKeyId = record.target.accessKeyId } = key ?? {};
    const sealedSecret =
      key === undefined
        ? record.target.sealedSecret
        : box.seal(key.secret, scheduleSecretPurpose(id));
    // With another key it is tried again at once.
    const isAfresh = paused !== undefined || key !== undefined;
    return {
      ...record,
      ...(name !== undefined && { displayName: name }),
      target: { ...record.target, accessKeyId, sealedSecret },
      ...(isAfresh && afresh),
      ...(paused !== undefined && { state: paused ? 'paused' : 'active', reason: '' }),
      updateMs: clock.nowMs(),
    };
  });
}

/** Its place is free for another one. */
function forgotten(record: ScheduleRecord, clock: Clock): ScheduleRecord {
  return {
    ...record,
    ...{ state: 'deleted', reason: '', query: {}, displayName: '', progress: undefined },
    ...{ lastError: '', customerId: '', updateMs: clock.nowMs() },
    ...afresh,
    target: { ...record.target, accessKeyId: '', sealedSecret: '' },
  };
}

function runAgain(
  record: ScheduleRecord,
  fromTime: RunRequest['fromTime'],
  clock: Clock,
): ScheduleRecord {
  if (record.state === 'paused') {
    throw new ConnectError('it is paused: resume it first', Code.FailedPrecondition);
  }
  const isOfEvents = queryOf(record.query).what === ExportWhat.EVENTS;
  const of = { isOfEvents, nowMs: clock.nowMs() };
  const fromMs = momentField('fromTime', fromTime, record.cadence, of);
  const nextFromMs = Math.min(fromMs ?? record.nextFromMs, record.nextFromMs);
  return { ...record, nextFromMs, tries: 0, nextTryMs: 0, updateMs: clock.nowMs() };
}

/** What failed before counts no more. */
const afresh = {
  ...{ tries: 0, nextTryMs: 0, failingSinceMs: 0, toldMs: 0 },
  ...{ tellTries: 0, nextTellMs: 0 },
  telling: 'nothing',
} as const;

function keyFields({ accessKeyId, secretAccessKey }: UpdateRequest) {
  if (accessKeyId === undefined && secretAccessKey === undefined) return undefined;
  return {
    accessKeyId: keyIdField('accessKeyId', accessKeyId ?? ''),
    secret: secretField(secretAccessKey ?? ''),
  };
}

function unproven(): ConnectError {
  return new ConnectError(
    'your e-mail address is not proven yet: sign in once by a link sent to it, or by a provider',
    Code.FailedPrecondition,
  );
}

function refuseScarce(room: SchedulesRpcParts['bucketRoom']): void {
  if (room?.isScarce() !== true) return;
  room.refused();
  throw new BucketFull('the bucket is nearly full');
}
