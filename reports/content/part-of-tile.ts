// The part of a mail that shows a tile: its answer in figures and rows, each with its change from the period before.

import type { AnsweredStatement } from '../../platform/reports/rendered-period.ts';
import type { SharedTile } from '../../proto/gen/public/dashboards/v1/shared_dashboards_pb.js';
import type {
  InsightQuerySpec,
  QueryResponse,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { partOfSegments, partOfTopK } from './parts/groups.ts';
import { partOfLifecycle, partOfStickiness, partOfUserFlow } from './parts/habits.ts';
import { partOfFunnel, partOfRetention } from './parts/journeys.ts';
import { partOfStatement } from './parts/statement.ts';
import { partOfTrends } from './parts/trends.ts';
import { questionName } from './question-names.ts';
import type { ReportPart } from './report-part.ts';
import { lineInMail, linesInMail } from './text-in-mail.ts';

const maxTitleCharacters = 100;
const maxTextCharacters = 2_000;
const forMembers =
  'This tile is made in SQL, which the mail shows to members of the organization alone.';
const failed = 'This question could not be answered. Look at it on the board.';

/** Undefined for an empty tile. `statement`: its answer, for members. */
export function partOfTile(
  tile: SharedTile,
  statement?: AnsweredStatement,
): ReportPart | undefined {
  const { question, content, previous } = tile;
  const own = lineInMail(tile.title, maxTitleCharacters);
  const title = own || (question === undefined ? '' : questionName(question));
  if (statement !== undefined) return partOfStatement(title, statement);
  switch (content.case) {
    case 'markdown': {
      const text = linesInMail(content.value, maxTextCharacters);
      return text === '' ? undefined : { kind: 'text', title, text, notes: [] };
    }
    case 'error':
      return { kind: 'text', title, text: failed, notes: [] };
    case 'insight':
      return question && partOfAnswer(title, question, content.value, previous);
    case undefined:
      return tile.membersOnly ? { kind: 'text', title, text: forMembers, notes: [] } : undefined;
    default:
      return content satisfies never;
  }
}

function partOfAnswer(
  title: string,
  spec: InsightQuerySpec,
  answer: QueryResponse,
  previous: QueryResponse | undefined,
): ReportPart | undefined {
  const { result, bucketLabels: labels } = answer;
  // A question that compares itself has both.
  const former = (answer.previous ?? previous)?.result;
  const shared = { title, spec, labels };
  switch (result.case) {
    case 'segmentation': {
      const before = former?.case === 'segmentation' ? former.value : undefined;
      return partOfSegments({ ...shared, result: result.value, before });
    }
    case 'topK': {
      const before = former?.case === 'topK' ? former.value : undefined;
      return partOfTopK({ ...shared, result: result.value, before });
    }
    case 'trends': {
      const before = former?.case === 'trends' ? former.value : undefined;
      return partOfTrends({ ...shared, result: result.value, before });
    }
    case 'revenue': {
      const before = former?.case === 'revenue' ? former.value : undefined;
      return partOfTrends({ ...shared, result: result.value, before });
    }
    case 'funnel': {
      const before = former?.case === 'funnel' ? former.value : undefined;
      return partOfFunnel({ ...shared, result: result.value, before });
    }
    case 'retention':
      return partOfRetention({ ...shared, result: result.value, before: undefined });
    case 'userFlow':
      return partOfUserFlow({ ...shared, result: result.value, before: undefined });
    case 'lifecycle':
      return partOfLifecycle({ ...shared, result: result.value, before: undefined });
    case 'stickiness':
      return partOfStickiness({ ...shared, result: result.value, before: undefined });
    case undefined:
      return { kind: 'text', title, text: failed, notes: [] };
    default:
      return result satisfies never;
  }
}
