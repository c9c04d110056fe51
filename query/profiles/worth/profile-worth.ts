// What profiles paid and what led them here first: the one place that works it out, for a list and for one profile.

import { create } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  CurrencySumSchema,
  FirstSourceSchema,
  type Profile,
  type ProfileWorth,
  ProfileWorthSchema,
} from '../../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { groupText } from '../../insights/sql/property-text.ts';
import type { Read } from '../profile-page.ts';
import { decimalSum } from './decimal.ts';
import { maxPayments, rowsOfProfile, worthSql } from './worth-sql.ts';

/** Why a page has no worth that could be read. */
export const tooManyPayments = 'the payments are too many to be read: leave withWorth out';

/**
 * Gives each of `profiles`, which are roots with their activity and at most 100, its worth, by one statement. Throws
 * the errors of `read`, and resource_exhausted where a page's sums are larger than it reads.
 */
export async function addWorth(
  read: Read,
  projectId: string,
  profiles: readonly Profile[],
): Promise<void> {
  for (const profile of profiles) profile.worth = nothing();
  const withEvents = profiles.filter(({ activity }) => activity?.firstSeen && activity.lastSeen);
  if (withEvents.length === 0) return;
  const ids = withEvents.map(({ id }) => id);
  const seenMs = withEvents.flatMap(({ activity }) =>
    [activity?.firstSeen, activity?.lastSeen].flatMap((at) => (at ? [timestampMs(at)] : [])),
  );
  const seen = { firstMs: Math.min(...seenMs), lastMs: Math.max(...seenMs) };
  const { rows, stopped } = await read(worthSql(projectId, ids, seen), rowsOfProfile * ids.length);
  // What is not there would look like no payment.
  if (stopped) throw new ConnectError(tooManyPayments, Code.ResourceExhausted);
  const worths = new Map(profiles.map(({ id, worth }) => [id, worth]));
  for (const [id, ...row] of rows) addRow(worths.get(String(id)), row);
}

function nothing(): ProfileWorth {
  return create(ProfileWorthSchema, { hasTooManyPayments: false, moreCurrencies: 0 });
}

/** The two rows of a profile come in any order. */
function addRow(worth: ProfileWorth | undefined, row: readonly unknown[]): void {
  if (worth === undefined) return;
  const [payments, currencies, texts, counts, exponents, units, source] = row;
  const [referrerDomain, utmSource = '', utmMedium = '', utmCampaign = ''] =
    listOf(source).map(String);
  if (referrerDomain !== undefined) {
    const said = { referrerDomain, utmSource, utmMedium, utmCampaign };
    worth.firstSource = create(FirstSourceSchema, said);
    return;
  }
  worth.hasTooManyPayments = Number(payments) > maxPayments;
  if (worth.hasTooManyPayments) return;
  worth.lifetimeValue = listOf(texts).map((text, at) => {
    const currency = groupText(text);
    return create(CurrencySumSchema, {
      ...(currency !== undefined && { currency }),
      payments: Number(listOf(counts)[at]),
      amount: decimalSum(
        listOf(listOf(exponents)[at]).map(Number),
        listOf(listOf(units)[at]).map(String),
      ),
    });
  });
  worth.moreCurrencies = Number(currencies) - worth.lifetimeValue.length;
}

function listOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  throw new Error(`the engine answered a ${typeof value} for a list`);
}
