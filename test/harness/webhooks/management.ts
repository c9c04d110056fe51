// The management interface of webhooks on a real port, with accounts and a real broker. The log of attempts is a list
// in memory, and faults of the records can be made.

import { buckets } from '../../../platform/broker/buckets.ts';
import { openBucket } from '../../../platform/broker/record-bucket.ts';
import { type Clock, systemClock } from '../../../platform/clock.ts';
import { createLog } from '../../../platform/log.ts';
import { networks } from '../../../platform/private-networks.ts';
import { readOrganizationWebhooks } from '../../../platform/webhooks/webhook-record.ts';
import type { AttemptLog } from '../../../webhooks/attempts/attempt-log.ts';
import type { ListedAttempt } from '../../../webhooks/attempts/read-attempts.ts';
import type { StoredDelivery } from '../../../webhooks/attempts/read-deliveries.ts';
import { createPublishDelivery } from '../../../webhooks/management/deliveries/publish-delivery.ts';
import { createManagement } from '../../../webhooks/management/start.ts';
import { type AccountsProcess, newCustomer, startAccounts } from '../services/accounts.ts';
import {
  type ManagementAnswer,
  type ManagementClient,
  managementClient,
} from './management-client.ts';

export interface ListedLog {
  attempts: ListedAttempt[];
  /** Whatever was asked of it last. */
  asked: Parameters<AttemptLog['readAttempts']>[0][];
  deliveries: StoredDelivery[];
  /** Each read throws it, while it is set. */
  fault?: Error | undefined;
}

export interface Management extends ManagementClient {
  accounts: AccountsProcess;
  log: ListedLog;
  /** Each read and write of records throws it, while it is set. */
  faults: { error: Error | undefined };
}

/** `clock` is the management interface's alone. */
export async function startManagement(
  brokerUrl: string,
  clock: Clock = systemClock,
): Promise<Management> {
  const faults: Management['faults'] = { error: undefined };
  const log: ListedLog = { attempts: [], asked: [], deliveries: [] };
  const accounts = await startAccounts({
    brokerUrl,
    async routes({ control, connection, projects, rooms }) {
      const room = rooms.roomOf(buckets.webhooks);
      const bucket = await openBucket(connection, buckets.webhooks, readOrganizationWebhooks, room);
      const failing = <Args extends unknown[], R>(call: (...args: Args) => Promise<R>) => {
        return async (...args: Args): Promise<R> => {
          if (faults.error !== undefined) throw faults.error;
          return call(...args);
        };
      };
      return [
        createManagement({
          access: {
            customers: control.customerAccess,
            placeOf: control.placeOf,
            organizations: control.directory,
            isProven: (id) => control.customers.get(id)?.emailVerified === true,
          },
          bucket: {
            get: failing(bucket.get),
            create: failing(bucket.create),
            update: failing(bucket.update),
          },
          organizationOf: (id) => projects.get(id)?.record.organizationId,
          publishDelivery: createPublishDelivery(connection),
          attempts: attemptLogOf(log),
          box: control.box,
          settings: { allowedNetworks: networks(['127.0.0.0/8']) },
          readsPerSecond: 50,
          clock,
          log: createLog('silent'),
        }),
      ];
    },
  });
  const client = await managementClient(accounts.baseUrl);
  return { ...client, accounts, log, faults };
}

function attemptLogOf(log: ListedLog): AttemptLog {
  const throwFault = (): void => {
    if (log.fault !== undefined) throw log.fault;
  };
  return {
    async readAttempts(query) {
      throwFault();
      log.asked.push(query);
      if (!['', 'next'].includes(query.pageToken)) return { kind: 'bad_token' };
      const attempts = log.attempts.filter(({ webhookId }) => webhookId === query.webhookId);
      return { kind: 'read', attempts, nextPageToken: attempts.length > 0 ? 'next' : '' };
    },
    async readDelivery(_organizationId, _webhookId, deliveryId) {
      throwFault();
      return log.deliveries.find((delivery) => delivery.deliveryId === deliveryId);
    },
    async readDeliveries(_organizationId, _webhookId, { fromMs, toMs, after }, limit) {
      throwFault();
      const { deliveries } = log;
      const start =
        after === undefined
          ? 0
          : 1 + deliveries.findIndex(({ deliveryId }) => deliveryId === after.deliveryId);
      return deliveries
        .slice(start)
        .filter(({ firstTimeMs }) => firstTimeMs >= fromMs && firstTimeMs < toMs)
        .slice(0, limit);
    },
  };
}

export interface ManagementAdmin {
  orgId: string;
  /** Of its only project. */
  projectId: string;
  token: string;
  /** Of the organization's webhooks. */
  path: string;
  call(method: string, path: string, body?: unknown): Promise<ManagementAnswer>;
  create(changes?: object): Promise<ManagementAnswer>;
}

export const subscription = {
  subject_type: 'WEBHOOK_SUBJECT_TYPE_ROOM',
  subject_id: 'room-1',
  subscription_type: 'WEBHOOK_SUBSCRIPTION_TYPE_MESSAGE_SENT',
};

/** To every event of a project. */
export function projectSubscription(projectId: string) {
  return {
    subject_type: 'WEBHOOK_SUBJECT_TYPE_PROJECT',
    subject_id: projectId,
    subscription_type: 'WEBHOOK_SUBSCRIPTION_TYPE_EVENT',
  };
}

export const content = {
  name: 'Orders to CRM',
  endpoint_url: 'https://example.com/hook',
  subscriptions: [subscription],
};

/** An admin of an organization that is new to the run. */
export async function newManagementAdmin(management: Management): Promise<ManagementAdmin> {
  const { orgId, projectId, accessToken: token } = await newCustomer(management.accounts);
  const path = `/v1/organizations/${orgId}/webhooks`;
  const call: ManagementAdmin['call'] = (method, at, body) =>
    management.call(method, at, { authorization: token, body });
  return {
    orgId,
    projectId,
    token,
    path,
    call,
    create: (changes = {}) => call('POST', path, { content: { ...content, ...changes } }),
  };
}

/** `status code: message`, or the status alone. */
export function outcome({ status, json }: ManagementAnswer): string {
  return json === undefined ? String(status) : `${status} ${json['code']}: ${json['message']}`;
}
