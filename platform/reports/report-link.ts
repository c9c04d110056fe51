// The token of the links in a report's mails: it names the recipient's entry, and holds its key, which was sent to this
// address alone. Keys are stored as they are: each mail has the same link, for as long as somebody keeps the mail.

import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Report, ReportRecipient } from '../../proto/gen/dashboard/reports/v1/reports_pb.js';

export interface ReportLink {
  projectId: string;
  reportId: string;
  key: string;
}

const keyBytes = 24;
// No point: a path with one is no page's.
const tokenPattern = /^([0-9a-f-]{36})~([0-9a-f-]{36})~([\w-]{32})$/;

export function newRecipientKey(): string {
  return randomBytes(keyBytes).toString('base64url');
}

/** Undefined for a text that is no token. */
export function readReportLink(token: string): ReportLink | undefined {
  const [, projectId, reportId, key] = tokenPattern.exec(token) ?? [];
  if (projectId === undefined || reportId === undefined || key === undefined) return undefined;
  return { projectId, reportId, key };
}

/** The page on which a recipient says yes or no; a POST to it is a no (RFC 8058). */
export function reportLinkUrl(publicUrl: string, { projectId, reportId, key }: ReportLink): string {
  return `${publicUrl}/r/${projectId}~${reportId}~${key}`;
}

/** The entry that the link is about; undefined where it was taken away. */
export function recipientOf(
  { recipients }: Pick<Report, 'recipients'>,
  { key }: ReportLink,
): ReportRecipient | undefined {
  return recipients.find((one) => isEqual(one.key, key));
}

/** Whose it is, within one report: a member's id or an address. */
export function recipientName({
  customerId,
  email,
}: Pick<ReportRecipient, 'customerId' | 'email'>): string {
  return customerId === '' ? email : customerId;
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
