// What a caller of POST /sql is told: ClickHouse's own codes, of which the drivers retry none of ours. A statement that
// cannot be judged is refused as one that is not allowed.

/** Codes that clients know. 164, 159, 241 and 202 are not among them: drivers would run the statement again. */
export const codes = {
  syntax: { code: 62, name: 'SYNTAX_ERROR' },
  unknownFormat: { code: 73, name: 'UNKNOWN_FORMAT' },
  notAllowed: { code: 497, name: 'ACCESS_DENIED' },
  credential: { code: 516, name: 'AUTHENTICATION_FAILED' },
  /** Too many at once, and statements that ran too long or took too much memory. */
  limit: { code: 201, name: 'QUOTA_EXCEEDED' },
  tooManyRows: { code: 396, name: 'TOO_MANY_ROWS_OR_BYTES' },
  away: { code: 279, name: 'ALL_CONNECTION_TRIES_FAILED' },
} as const;

export class StatementRefusal extends Error {
  readonly code: number;
  readonly type: string;

  constructor({ code, name }: { code: number; name: string }, message: string) {
    super(message);
    this.code = code;
    this.type = name;
  }
}

/** `what` is not allowed: a sentence. */
export function notAllowed(message: string): StatementRefusal {
  return new StatementRefusal(codes.notAllowed, message);
}

export function wrongSyntax(message: string): StatementRefusal {
  return new StatementRefusal(codes.syntax, message);
}
