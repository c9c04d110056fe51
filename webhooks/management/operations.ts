// The table of the interface's methods. Routing, the checks of access and requests, and the published document come
// from it alone. To add a method, write it as an operation and list it here.

import { getOpenApi, listEventTypes } from './catalogue/open-methods.ts';
import { listLogs } from './deliveries/list-logs.ts';
import { recoverDeliveries, redeliver } from './deliveries/redeliver.ts';
import { sendTest } from './deliveries/send-test.ts';
import type { Operation } from './http/operation.ts';
import {
  createWebhook,
  deleteWebhook,
  rotateSecret,
  updateWebhook,
} from './records/change-webhooks.ts';
import { getWebhook, listWebhooks } from './records/show-webhooks.ts';

export const operations: readonly Operation[] = [
  listWebhooks,
  createWebhook,
  rotateSecret,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  listLogs,
  redeliver,
  recoverDeliveries,
  sendTest,
  listEventTypes,
  getOpenApi,
];
