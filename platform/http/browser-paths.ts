// The paths of the browser's script and of what it sends. Both can be renamed, because blockers of advertisements know
// services by their paths. config.ts reads them.

export interface BrowserPaths {
  /** Of BatchCreate; Identify is at `/i` below it. */
  collectPath: string;
  /** Each answers with the script. */
  scriptPaths: readonly string[];
}

/** No point, which every method's path has, and nothing that a URL would have to escape. */
const collectPattern = /^(?:\/[A-Za-z0-9_~-]{1,64}){1,4}$/;
/** The ending keeps it apart from every other page of the port. */
const scriptPattern = /^(?:\/[A-Za-z0-9._~-]{1,64}){1,4}(?<=\.js)$/;
const maxScriptPaths = 8;
const ownPages = new Set(['/healthz', '/readyz', '/metrics']);

export function readBrowserPaths(
  text: (name: string) => string | undefined,
  problems: string[],
): BrowserPaths {
  const collectPath = text('MILLRACE_COLLECT_PATH') ?? '/m';
  if (!collectPattern.test(collectPath) || ownPages.has(collectPath)) {
    problems.push(
      'MILLRACE_COLLECT_PATH must be a path such as /m, of letters, digits, - and _, that no page of the service has',
    );
  }
  const scriptPaths = (text('MILLRACE_SCRIPT_PATHS') ?? '/millrace.js')
    .split(',')
    .map((path) => path.trim());
  const isRight = scriptPaths.every((path) => scriptPattern.test(path));
  if (!isRight || scriptPaths.length > maxScriptPaths) {
    problems.push(
      `MILLRACE_SCRIPT_PATHS must list at most ${maxScriptPaths} paths such as /millrace.js, each with .js at its end`,
    );
  }
  return { collectPath, scriptPaths };
}
