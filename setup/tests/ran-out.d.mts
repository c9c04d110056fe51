// The types of ran-out.mjs, for its test.

interface Failure {
  name?: string;
  message?: string;
}

export function isRanOut(failure: Failure): boolean;
export function askedAgain(files: readonly { path: string; errors: readonly Failure[] }[]): string[];
