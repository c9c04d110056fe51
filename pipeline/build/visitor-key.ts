// How a visitor is named in memory, wherever sessions are looked for.

const separator = '\0';

/** What a visitor is known by: a project's id holds no zero character, so that this is unambiguous. */
export function visitorKey(projectId: string, distinctId: string): string {
  return `${projectId}${separator}${distinctId}`;
}

/** The two halves of a visitor's key. */
export function splitVisitorKey(key: string): { projectId: string; distinctId: string } {
  const at = key.indexOf(separator);
  return { projectId: key.slice(0, at), distinctId: key.slice(at + 1) };
}
