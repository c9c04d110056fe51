// The types of changes.mjs, for its test: what runs before packages are installed is no TypeScript.

export function changedFiles(directory?: string): string[] | undefined;
export function reachOf(changed: readonly string[]): Map<string, number>;
export function touchesBenches(changed: readonly string[] | undefined): boolean;
