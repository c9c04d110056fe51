// The key of a visitor in memory, for the search of sessions. Nothing stores it.

const separator = '\0';

/** Unambiguous, because a project's id holds no zero character. */
export function visitorKey(projectId: string, distinctId: string): string {
  return `${projectId}${separator}${distinctId}`;
}

/** The two halves of a visitor's key. */
export function splitVisitorKey(key: string): { projectId: string; distinctId: string } {
  const at = key.indexOf(separator);
  return { projectId: key.slice(0, at), distinctId: key.slice(at + 1) };
}
