// How a user's worth reads, in the list and on the user's page.

import type {
  FirstSource,
  ProfileWorth,
} from '../../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { MarkedSource } from '../../marks/marked.tsx';
import { directName } from '../../results/names.ts';
import { sourceName } from '../../sources/source-of.ts';
import { figure } from '../../ui/figures.ts';
import { sumText } from './payments.ts';

/** "30.50 EUR", "1,200 USD", "and in 3 more" currencies: a text each; none where nothing was paid. */
export function valueTexts(worth: ProfileWorth): string[] {
  const { lifetimeValue, hasTooManyPayments, moreCurrencies = 0 } = worth;
  // The service adds up so many of a user.
  if (hasTooManyPayments) return ['More than 5,000 payments'];
  const more = moreCurrencies > 0 ? [`and in ${figure(moreCurrencies)} more`] : [];
  return [...lifetimeValue.map(sumText), ...more];
}

/**
 * The same for other programs: exact, without separators, the currency first. A text that begins with a minus is guarded
 * in CSV as a formula: a sum of no currency is the last, and a number where it is alone.
 */
export function plainValue(worth: ProfileWorth | undefined): string {
  if (!worth) return '';
  if (worth.hasTooManyPayments) return valueTexts(worth).join('');
  const sums = worth.lifetimeValue.toSorted((a, b) => Number(!a.currency) - Number(!b.currency));
  return sums
    .map(({ amount, currency }) => [currency, amount].filter(Boolean).join(' '))
    .join('; ');
}

/** "Google, newsletter / email": the site by its name, and then source and medium of a campaign. */
export function SourceName({ source }: { source: FirstSource }) {
  const { referrerDomain, utmSource } = source;
  return (
    <MarkedSource referrerDomain={referrerDomain} utmSource={utmSource} channel="direct">
      <span title={referrerDomain || undefined}>
        {sourceText(source, sourceName(referrerDomain)) || directName}
      </span>
    </MarkedSource>
  );
}

/** With the host as it is stored; '' for a visit from nowhere. */
export function plainSource(worth: ProfileWorth | undefined): string {
  const source = worth?.firstSource;
  return source ? sourceText(source, source.referrerDomain) : '';
}

function sourceText({ utmSource, utmMedium, utmCampaign }: FirstSource, site: string): string {
  const campaign = [utmSource, utmMedium, utmCampaign].filter(Boolean);
  return [site, campaign.join(' / ')].filter(Boolean).join(', ');
}
