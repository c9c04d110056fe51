import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { QueryRequestSchema } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { readQuestion } from '../../../query/insights/read/question.ts';
import { tooMuchWork } from '../../../query/insights/run/work-bound.ts';
import { lastMonth } from './dearest.ts';
import { questions } from './questions.ts';

it.each(questions)('$name is no dear question over 100 million events', ({ queries }) => {
  for (const query of queries) {
    const json: JsonValue = JSON.parse(JSON.stringify({ ...query, ...lastMonth(0) }));
    const question = readQuestion('prj', fromJson(QueryRequestSchema, json));
    expect(tooMuchWork(question, 100_000_000)).toBeUndefined();
  }
});
