// AlertsService without Test: checks requests about alerts and makes the answers, each with its state. Keeping them is
// control/project-items'; looking at them is alerts/'s.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { newId } from '../../platform/access/ids.ts';
import type { OrganizationDirectory } from '../../platform/access/organizations.ts';
import { askedOfPeriod, whyNotAnAlert } from '../../platform/alerts/alert-question.ts';
import { firesAbove } from '../../platform/alerts/condition-kind.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  type Alert,
  type AlertChange,
  type AlertCondition,
  AlertConditionKind,
  AlertConditionKindSchema,
  AlertInterval,
  AlertIntervalSchema,
  type AlertLook,
  AlertSchema,
  type CreateRequest,
  type DeleteRequest,
  type GetRequest,
  type UpdateRequest,
} from '../../proto/gen/dashboard/alerts/v1/alerts_pb.js';
import type { InsightQuerySpec } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import type { CheckQuestion } from '../dashboards/tile-fields.ts';
import { refuseLargeItem, refuseMoreItems } from '../project-items/item-bounds.ts';
import {
  createItemStore,
  type ItemStore,
  type ItemStoreDeps,
} from '../project-items/item-store.ts';
import type { ProjectsByOrganization } from '../projects/by-organization.ts';
import {
  checkedMember,
  displayNameField,
  invalidArgument,
  requiredField,
} from '../request-fields.ts';
import type { SignedInMember, SignedInProjectMember } from '../signed-in-customer.ts';
import { type AlertStateBucket, changesOf, looksOf, readState, withState } from './alert-view.ts';

export interface AlertDeps {
  alerts: ItemStore<Alert>;
  alertStates: AlertStateBucket;
  byOrganization: ProjectsByOrganization;
  directory: Pick<OrganizationDirectory, 'placeOf'>;
  checkQuestion: CheckQuestion;
  clock: Clock;
}

type Caller = SignedInMember & SignedInProjectMember;

const maxAlerts = 20;
export const maxAlertsOfOrganization = 100;
/** Each is a question that is asked again and again. */
const ofOrganization = { kind: 'alerts', max: maxAlertsOfOrganization } as const;
const alertSize = { noun: 'an alert', maxBytes: 8_192, field: 'spec' } as const;
const maxRecipients = 20;

export function createAlerts(deps: ItemStoreDeps): ItemStore<Alert> {
  const kind = { kind: 'alerts', noun: 'alert', max: maxAlerts } as const;
  return createItemStore(deps, { ...kind, schema: AlertSchema }, (message) => message);
}

export async function listAlerts(
  { alerts, alertStates }: AlertDeps,
  { projectId }: SignedInProjectMember,
): Promise<{ alerts: Alert[] }> {
  const shown = alerts.listPlaced(projectId).map(async ({ item, place }) => {
    return withState(item, await readState(alertStates, projectId, place, item));
  });
  return { alerts: await Promise.all(shown) };
}

export async function getAlert(
  deps: AlertDeps,
  request: Pick<GetRequest, 'id'>,
  { projectId }: SignedInProjectMember,
): Promise<{ alert: Alert; changes: AlertChange[]; looks: AlertLook[] }> {
  const { item, place } = await deps.alerts.findPlaced(projectId, requiredField('id', request.id));
  const state = await readState(deps.alertStates, projectId, place, item);
  return { alert: withState(item, state), changes: changesOf(state), looks: looksOf(state) };
}

export async function createAlert(
  deps: AlertDeps,
  request: CreateRequest,
  caller: Caller,
): Promise<{ alert: Alert }> {
  const { recipientIds, withoutMail } = request;
  const now = timestampFromMs(deps.clock.nowMs());
  if (withoutMail && recipientIds.length > 0) {
    throw invalidArgument('recipientIds', 'must be empty with withoutMail');
  }
  const asked = recipientIds.length === 0 && !withoutMail ? [caller.customerId] : recipientIds;
  const alert = create(AlertSchema, {
    id: newId(),
    displayName: displayNameField('displayName', request.displayName),
    spec: specField(deps, request.spec),
    condition: conditionField(request.condition),
    interval: intervalField(request.interval),
    recipientIds: recipientsField(deps, 'recipientIds', asked, caller),
    ...{ createTime: now, updateTime: now },
  });
  refuseLargeItem(AlertSchema, alert, alertSize);
  refuseMoreItems(deps.alerts, deps.byOrganization, caller.organizationId, ofOrganization);
  return { alert: await deps.alerts.create(caller, alert) };
}

export async function updateAlert(
  deps: AlertDeps,
  request: UpdateRequest,
  caller: Caller,
): Promise<{ alert: Alert }> {
  const id = requiredField('id', request.id);
  const { displayName, spec, condition, interval, isPaused, recipients } = request;
  const field = 'recipients.recipientIds';
  const given = {
    ...(displayName !== undefined && { displayName: displayNameField('displayName', displayName) }),
    ...(spec !== undefined && { spec: specField(deps, spec) }),
    ...(condition !== undefined && { condition: conditionField(condition) }),
    ...(interval !== AlertInterval.UNSPECIFIED && { interval: intervalField(interval) }),
    ...(isPaused !== undefined && { isPaused }),
    ...(recipients !== undefined && {
      recipientIds: recipientsField(deps, field, recipients.recipientIds, caller),
    }),
    updateTime: timestampFromMs(deps.clock.nowMs()),
  };
  await deps.alerts.change(caller, id, (before) => {
    const after = { ...before, ...given };
    refuseLargeItem(AlertSchema, after, alertSize);
    return after;
  });
  const { alert } = await getAlert(deps, { id }, caller);
  return { alert };
}

export async function deleteAlert(
  { alerts }: AlertDeps,
  request: DeleteRequest,
  { projectId }: SignedInProjectMember,
): Promise<Record<string, never>> {
  await alerts.delete(projectId, requiredField('id', request.id));
  return {};
}

/** Throws invalid_argument for a question that no alert can have, or that could not be answered whatever its time. */
function specField(
  { checkQuestion }: AlertDeps,
  spec: InsightQuerySpec | undefined,
): InsightQuerySpec {
  if (spec === undefined) throw invalidArgument('spec', 'is required');
  const rule = whyNotAnAlert(spec);
  if (rule !== undefined) throw invalidArgument('spec', rule);
  for (const asked of askedOfPeriod(spec)) checkQuestion(asked, undefined);
  return spec;
}

function conditionField(condition: AlertCondition | undefined): AlertCondition {
  if (condition === undefined) throw invalidArgument('condition', 'is required');
  const { kind, threshold, recoveryThreshold = threshold } = condition;
  if (
    kind === AlertConditionKind.UNSPECIFIED ||
    AlertConditionKindSchema.value[kind] === undefined
  ) {
    throw invalidArgument('condition.kind', 'is required');
  }
  for (const [name, value] of Object.entries({ threshold, recoveryThreshold })) {
    if (!Number.isFinite(value)) throw invalidArgument(`condition.${name}`, 'must be a number');
  }
  const isAbove = firesAbove(kind);
  if (isAbove ? recoveryThreshold > threshold : recoveryThreshold < threshold) {
    const rule = `must not be ${isAbove ? 'above' : 'below'} the threshold`;
    throw invalidArgument('condition.recoveryThreshold', rule);
  }
  return condition;
}

function intervalField(interval: AlertInterval): AlertInterval {
  const isKnown = AlertIntervalSchema.value[interval] !== undefined;
  if (interval !== AlertInterval.UNSPECIFIED && isKnown) return interval;
  throw invalidArgument('interval', 'must be five minutes, an hour or a day');
}

function recipientsField(
  { directory }: AlertDeps,
  field: string,
  sent: readonly string[],
  caller: Caller,
): string[] {
  if (sent.length > maxRecipients) throw invalidArgument(field, `must be at most ${maxRecipients}`);
  const ids = sent.map((id, index) => checkedMember(directory, `${field}[${index}]`, id, caller));
  return [...new Set(ids)];
}
