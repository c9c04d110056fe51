// A question as JSON and as a command, and which rows its answer was counted from.

import type { AnswerSource, QueryRequest } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { requestCurl, requestJson } from '../question/ask.ts';
import { Code } from '../ui/copy.tsx';

export function QuestionCode(props: { request: QueryRequest; sources: readonly AnswerSource[] }) {
  const { request, sources } = props;
  return (
    <>
      <h3>JSON</h3>
      <Code what="Insight as JSON" text={requestJson(request)} />
      <h3>curl</h3>
      <p class="hint">Put a private key of the project in the place of YOUR_PRIVATE_KEY.</p>
      <Code what="Insight as curl" text={requestCurl(request)} />
      <Sources of={sources} />
    </>
  );
}

/** Which rows the answer was counted from, and why not from others. */
function Sources({ of }: { of: readonly AnswerSource[] }) {
  if (of.length === 0) return null;
  return (
    <>
      <h3>Where the answer comes from</h3>
      <ul>
        {of.map(({ need, source, refused }) => (
          <li key={`${need} ${source}`}>
            {need}: <code>{source}</code>
            {refused.length === 0 ? null : (
              <ul class="hint">
                {refused.map((one) => (
                  <li key={one.source}>
                    not <code>{one.source}</code>: {one.reason}
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
