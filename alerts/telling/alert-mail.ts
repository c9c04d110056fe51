// The words of a mail about an alert: what changed, by which value of which period, and where to look.

import type { AlertStateName, ChangeRecord } from '../../platform/alerts/alert-state.ts';
import { firesAbove, isOfChange } from '../../platform/alerts/condition-kind.ts';
import { composeMail, type MailContent } from '../../platform/mail/texts/compose-mail.ts';
import { nameInMail } from '../../platform/mail/texts/name-in-mail.ts';
import { wallText } from '../../platform/zones/wall-clock.ts';
import type { AlertCondition } from '../../proto/gen/dashboard/alerts/v1/alerts_pb.js';
import type { OwnedAlert } from '../owned-alerts.ts';

interface Place {
  projectName(projectId: string): string;
  timezoneOf(projectId: string): string;
  publicUrl(): string;
}

export function alertMail(
  { projectName, timezoneOf, publicUrl }: Place,
  { projectId, alert }: OwnedAlert,
  change: Pick<ChangeRecord, 'state' | 'before' | 'look'> & { isTest?: boolean },
): MailContent {
  const name = nameInMail(alert.displayName, 'alert');
  const project = nameInMail(projectName(projectId), 'a project');
  const { look, state, before } = change;
  const zone = timezoneOf(projectId);
  const time = (ms: number): string => wallText(zone, ms).slice(0, 16).replace('T', ' ');
  const isTest = change.isTest === true;
  return composeMail({
    subject: `${isTest ? 'Test: ' : ''}${name} of ${project}: ${stateWords[state]}`,
    paragraphs: [
      isTest
        ? `This is a test of the alert ${name}: nothing has changed.`
        : `The alert ${name} of ${project} is ${stateWords[state]}; it was ${stateWords[before]} before.`,
      [
        `Value: ${valueText(look.value, alert.condition)}`,
        `Line: ${lineText(alert.condition)}`,
        `Period: ${time(look.fromMs)} to ${time(look.toMs)}, ${zone}`,
      ].join('\n'),
      'You get this mail because you are among the recipients of the alert.',
    ],
    button: { label: 'Look at it', link: `${publicUrl()}/p/${projectId}/alerts/${alert.id}` },
  });
}

const stateWords: Readonly<Record<AlertStateName, string>> = {
  OK: 'OK',
  FIRING: 'firing',
  NO_DATA: 'without data',
};

function valueText(value: number | null, condition: AlertCondition | undefined): string {
  if (value === null) return 'none';
  return `${Math.round(value * 100) / 100}${isOfChange(condition?.kind) ? ' % from the period before' : ''}`;
}

function lineText(condition: AlertCondition | undefined): string {
  if (condition === undefined) return 'none';
  const { kind, threshold, recoveryThreshold } = condition;
  const unit = isOfChange(kind) ? ' %' : '';
  const back = recoveryThreshold === undefined ? '' : `, OK again at ${recoveryThreshold}${unit}`;
  return `${firesAbove(kind) ? 'above' : 'below'} ${threshold}${unit}${back}`;
}
