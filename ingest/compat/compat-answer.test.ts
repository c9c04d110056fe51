import { expect, it } from 'vitest';
import { refusal } from '../rpc/answer.ts';
import { compatAnswer } from './compat-answer.ts';
import { usualAnswers } from './endpoint.ts';

const head = { path: '/e/', query: new URLSearchParams(), headers: {} };
const answers = { ...usualAnswers, overload: 503, denied: 503 } as const;

it.each([
  ['compat_off', 503],
  ['origin', 503],
  ['permission_denied', 403],
])(
  'what is refused for %s is answered %d: only what settings refuse may be taken a minute later',
  (reason, status) => {
    const answer = compatAnswer(refusal('permission_denied', reason, 'no'), answers, head);
    expect(answer.status).toBe(status);
    expect('retry-after' in answer.headers).toBe(status === 503);
  },
);
