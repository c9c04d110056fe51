// Between the two steps of a sign-in: what the first one answered, kept by this tab alone and gone with a reload.

import { type Answer, takeSession } from '../session.ts';

export const secondStepPath = '/sign-in/code';

type FirstStep = { challengeToken: string; to: string };

let kept: FirstStep | undefined;

export function firstStep(): FirstStep | undefined {
  return kept;
}

/** Takes the session of a sign-in, and answers the path to open: `to`, or the second step's, which leads there. */
export function pathAfter(
  answer: Answer & { challenge?: { token: string } | undefined },
  to: string,
): string {
  if (answer.challenge) {
    kept = { challengeToken: answer.challenge.token, to };
    return secondStepPath;
  }
  takeSession(answer);
  return to;
}

/** Takes the session of the second step, and answers the path to open. */
export function pathAfterSecondStep(answer: Answer, { to }: FirstStep): string {
  kept = undefined;
  takeSession(answer);
  return to;
}
