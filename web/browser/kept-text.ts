// What a browser keeps for its reader from one visit to the next. One that keeps nothing is no fault: its room may be
// full, or it may not be allowed.

/** null where there is none. */
export function keptText(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** undefined forgets it. */
export function keepText(key: string, text: string | undefined): void {
  try {
    if (text === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    // See above.
  }
}
