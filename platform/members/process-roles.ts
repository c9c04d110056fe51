// The roles that processes of one instance share out among themselves, and what a role needs beneath it. Starting them
// is up to the composition.

export const processRoles = ['ingest', 'pipeline', 'query', 'control', 'webhooks'] as const;
export type ProcessRole = (typeof processRoles)[number];

const storeRoles: readonly ProcessRole[] = ['pipeline', 'query', 'webhooks'];

/** The roles of a list with commas, all of them where there is none; a word that is no role is a problem. */
export function readRoles(text: string | undefined, problems: string[]): ProcessRole[] {
  if (text === undefined) return [...processRoles];
  const words = text.split(',').map((word) => word.trim());
  if (words.some((word) => !processRoles.some((role) => role === word))) {
    problems.push(`--roles must be one of ${processRoles.join(', ')}`);
  }
  return processRoles.filter((role) => words.includes(role));
}

/** Whether a process with these roles writes or reads ClickHouse. The others have none. */
export function needStore(roles: readonly ProcessRole[]): boolean {
  return storeRoles.some((role) => roles.includes(role));
}

/**
 * Why a process with an embedded ClickHouse cannot have these roles alone: another process, which its broker can have,
 * does not reach it. Undefined where it has all that belong together.
 */
export function whyStoreIsSplit(roles: readonly ProcessRole[]): string | undefined {
  const isWhole = roles.includes('pipeline') && roles.includes('query');
  if (isWhole || !needStore(roles)) return undefined;
  return (
    'the roles pipeline, query and webhooks need one ClickHouse: set CLICKHOUSE_URL to the same server in every process ' +
    'that has one of them, or run pipeline and query in one process, and webhooks in no other'
  );
}
