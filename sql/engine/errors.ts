// Errors in ClickHouse's own form: a code, a name, and the line from which the client reads both. Whether to retry is
// decided by the client.

export class EngineError extends Error {
  readonly code: number;
  readonly codeName: string;

  /** `code` and `codeName` are ClickHouse's own, from its ErrorCodes. */
  constructor(code: number, codeName: string, message: string) {
    super(message);
    this.code = code;
    this.codeName = codeName;
  }
}

/** The error of a busy engine; `running` is its number of running or waiting statements. */
export function tooMany(running: number): EngineError {
  const message = `Too many simultaneous queries: ${running} are running or waiting`;
  return new EngineError(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', message);
}

const exceptionText = /Code: (\d+)\. DB::(?:\w+)?Exception: (.*?)\s*\(([A-Z][A-Z0-9_]+)\)\s*$/s;

/** Reads chDB's error into an EngineError; any other error keeps its text under UNKNOWN_EXCEPTION. */
export function toEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  const text = error instanceof Error ? error.message : String(error);
  const [, code = '1002', message = text, name = 'UNKNOWN_EXCEPTION'] =
    exceptionText.exec(text) ?? [];
  return new EngineError(Number(code), name, message.replace(/\.\s*\.$/, '.'));
}

/** The line with which a ClickHouse server answers. */
export function exceptionLine(error: EngineError, version: string): string {
  return `Code: ${error.code}. DB::Exception: ${error.message} (${error.codeName}) (version ${version})\n`;
}

const notFound = new Set([46, 47, 60, 81, 115, 456]);
const badRequest = new Set([26, 27, 36, 38, 41, 43, 53, 57, 62, 70, 72, 117, 386]);

/** The HTTP status of an error code, close to the server's table; the client only checks that it is not 2xx. */
export function statusFor(error: EngineError): number {
  if (notFound.has(error.code)) return 404;
  if (badRequest.has(error.code)) return 400;
  if (error.code === 497 || error.code === 516) return 403;
  if (error.code === 48) return 501;
  if (error.code === 159) return 408;
  if (error.code === 202 || error.code === 236) return 503;
  return 500;
}
