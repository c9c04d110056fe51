// How a user's first source reads, in the list and on the user's page.

import { directName } from '../../../platform/words/insight-words.ts';
import type {
  FirstSource,
  ProfileWorth,
} from '../../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { MarkedSource } from '../../marks/marked.tsx';
import { sourceName } from '../../sources/source-of.ts';

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
