// What went wrong in the shape ClickHouse gives it: a code, a name and the line the client reads them from. Nothing is
// decided here about retrying; that is the caller's business.

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

/** The refusal of a server that has enough to do; `running` is how much. */
export function tooMany(running: number): EngineError {
  const message = `Too many simultaneous queries: ${running} are running or waiting`;
  return new EngineError(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', message);
}

const exceptionText = /Code: (\d+)\. DB::(?:\w+)?Exception: (.*?)\s*\(([A-Z][A-Z0-9_]+)\)\s*$/s;

/** An error of the engine's as an EngineError; anything else keeps its text under UNKNOWN_EXCEPTION. */
export function toEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  const text = error instanceof Error ? error.message : String(error);
  const [, code = '1002', message = text, name = 'UNKNOWN_EXCEPTION'] =
    exceptionText.exec(text) ?? [];
  return new EngineError(Number(code), name, message.replace(/\.\s*\.$/, '.'));
}

/** The line a ClickHouse server answers with. */
export function exceptionLine(error: EngineError, version: string): string {
  return `Code: ${error.code}. DB::Exception: ${error.message} (${error.codeName}) (version ${version})\n`;
}

const notFound = new Set([46, 47, 60, 81, 115, 456]);
const badRequest = new Set([26, 27, 36, 38, 41, 43, 53, 57, 62, 70, 72, 117, 386]);

/** HTTP status for an error code, near enough to the server's table; the client reads only that it is not 2xx. */
export function statusFor(error: EngineError): number {
  if (notFound.has(error.code)) return 404;
  if (badRequest.has(error.code)) return 400;
  if (error.code === 48) return 501;
  if (error.code === 159) return 408;
  if (error.code === 202 || error.code === 236) return 503;
  return 500;
}
