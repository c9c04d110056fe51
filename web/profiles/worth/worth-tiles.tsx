// What a user has paid, and what led them here first.

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { FilterOperator, PropertySource } from '../../../proto/gen/common/v1/filter_pb.js';
import {
  type ActivityEvent,
  ActivityService,
} from '../../../proto/gen/shared/activity/v1/activity_pb.js';
import type { Profile } from '../../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { inProject, transport } from '../../client.ts';
import { textOf } from '../../event/value.ts';
import { MarkedSource } from '../../marks/marked.tsx';
import { type Resource, useResource } from '../../resource.ts';
import { directName } from '../../results/names.ts';
import { sourceOf } from '../../sources/source-of.ts';
import { toDate } from '../../time/time.tsx';
import { figure } from '../../ui/figures.ts';
import { explainedFault } from './explained-fault.tsx';
import { type Sums, sumsOf, sumTexts } from './payments.ts';

const activity = createClient(ActivityService, transport);
const pageSize = 1_000;
/** Whoever has more payments gets no sum: one of a part would be wrong. */
const maxPayments = 5_000;

export function LifetimeValue({ projectId, profile }: { projectId: string; profile: Profile }) {
  const { id } = profile;
  const found = useResource(`profile payments ${projectId} ${id}`, (end) =>
    readSums(projectId, id, end),
  );
  const sums = found.data?.sums;
  const texts = sums ? sumTexts(sums) : [];
  return (
    <div>
      <dt>Lifetime value</dt>
      <dd class="small">
        {explainedFault(found) ??
          (found.data && !sums
            ? `More than ${figure(maxPayments)} payments`
            : texts.length > 0
              ? texts.map((text) => <div key={text}>{text}</div>)
              : noneYet(found))}
      </dd>
    </div>
  );
}

/** Nothing is known while it is asked for. */
function noneYet({ isLoading }: Resource<unknown>): string {
  return isLoading ? '…' : '–';
}

/** Without `sums` where there are more payments than are read. */
async function readSums(
  projectId: string,
  profileId: string,
  end: AbortSignal,
): Promise<{ sums?: Sums }> {
  const filter = {
    ...{ property: 'amount', operator: FilterOperator.IS_SET },
    source: PropertySource.CUSTOM,
  };
  const events: ActivityEvent[] = [];
  let pageToken = '';
  while (events.length <= maxPayments) {
    const asked = { profileId, filters: [filter], pageSize, pageToken };
    const answer = await activity.list(asked, inProject(projectId, end));
    events.push(...answer.events);
    pageToken = answer.nextPageToken;
    if (pageToken === '') return { sums: sumsOf(events) };
  }
  return {};
}

export function FirstSource({ projectId, profile }: { projectId: string; profile: Profile }) {
  const firstSeen = profile.activity?.firstSeen;
  const firstMs = firstSeen && toDate(firstSeen).getTime();
  const key = firstMs && `profile source ${projectId} ${profile.id} ${firstMs}`;
  const found = useResource(key || undefined, async (end) => {
    const from = firstMs ?? 0;
    const timeRange = { from: timestampFromMs(from), to: timestampFromMs(from + 1) };
    const asked = { profileId: profile.id, timeRange, pageSize };
    const { events } = await activity.list(asked, inProject(projectId, end));
    return { first: events.at(-1) };
  });
  const { first } = found.data ?? {};
  return (
    <div>
      <dt>First source</dt>
      <dd class="small">{explainedFault(found) ?? (first ? sourceText(first) : noneYet(found))}</dd>
    </div>
  );
}

/** "Google, newsletter / email": the site by its name, and then source and medium of a campaign. */
function sourceText({ autoProperties }: ActivityEvent) {
  const text = (property: string): string => textOf(autoProperties, property);
  const host = text('$referrerDomain');
  const campaign = [text('$utmSource'), text('$utmMedium'), text('$utmCampaign')].filter(Boolean);
  const site = host && (sourceOf(host)?.name ?? host);
  const words = [site, campaign.join(' / ')].filter(Boolean).join(', ');
  return (
    <MarkedSource referrerDomain={host} utmSource={text('$utmSource')} channel="direct">
      <span title={host || undefined}>{words || directName}</span>
    </MarkedSource>
  );
}
