// How names of files have a value.

/** "Mobile Safari" is `mobile-safari`. */
export function slugOf(value: string): string {
  return value.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}
