// What a failed statement says: the service's and the engine's sentence, what kind of fault it is, and its place in the
// text where it is told.

export interface Place {
  /** From 1, both. */
  line: number;
  column: number;
}

type FailureKind = 'syntax' | 'refused' | 'bound' | 'access' | 'away' | 'engine';

export class StatementFailure extends Error {
  readonly kind: FailureKind;
  readonly place: Place | undefined;

  constructor(kind: FailureKind, message: string, place?: Place) {
    super(message);
    this.kind = kind;
    this.place = place;
  }
}

/** ClickHouse's codes as the service uses them (docs/sql.md); all others are the engine's own. */
const kinds: Readonly<Record<string, FailureKind>> = {
  62: 'syntax',
  73: 'refused',
  201: 'bound',
  279: 'away',
  396: 'bound',
  497: 'refused',
  516: 'access',
};

export const wayFailure = new StatementFailure('away', 'The service did not answer.');

/** Of a line such as `Code: 62. DB::Exception: Syntax error: failed at ( (line 1, col 13). (SYNTAX_ERROR)`. */
export function failureOf(line: string): StatementFailure {
  const [, code = '', text = line] =
    /^Code: (\d+)\. DB::Exception: ([\s\S]*?)\s*(?:\(\w+\))?\s*$/.exec(line) ?? [];
  const message = text.trim() || 'The service gave no reason.';
  const [, lineNumber, column] = /\(line (\d+), col (\d+)\)/.exec(message) ?? [];
  const place = lineNumber ? { line: Number(lineNumber), column: Number(column) } : undefined;
  const sentence = message.charAt(0).toUpperCase() + message.slice(1);
  return new StatementFailure(kinds[code] ?? 'engine', sentence, place);
}

/** What happened, before the sentence. */
export const failureTitles: Readonly<Record<FailureKind, string>> = {
  syntax: 'The statement cannot be read.',
  refused: 'The statement was refused.',
  bound: 'The statement met a bound.',
  access: 'You may not run statements here.',
  away: 'There is no answer.',
  engine: 'The engine could not run it.',
};

/** What to do about it, behind the sentence; '' where the sentence says it. */
export const failureAdvice: Readonly<Record<FailureKind, string>> = {
  syntax: '',
  refused: 'Allowed is one SELECT over the listed views, with functions that compute.',
  bound: 'Ask for fewer rows or columns, or for a shorter time; or run it again later.',
  access: 'Ask an admin of the organization.',
  away: 'Run it again once the service is back.',
  engine: '',
};
