// The answer to a path without a method: names the nearest method, or where the definitions are. Bounded, because
// everybody may ask: a long path is compared with nothing, and a comparison ends once it is beyond its bound.

/** No method's path is longer. */
const maxPathLength = 128;
/** A method is near that differs in one letter of four, and in no more than this. */
const maxEdits = 4;
const lettersPerEdit = 4;

/** The paths of all methods, each with its name as callers write it by mistake: in small letters, without a package. */
export class KnownPaths {
  readonly #names: { path: string; names: readonly string[] }[];

  constructor(paths: Iterable<string>) {
    this.#names = [...paths].map((path) => {
      const whole = path.toLowerCase();
      const service = whole.slice(whole.lastIndexOf('.') + 1);
      return { path, names: [whole, `/${service}`] };
    });
  }

  /** The sentence for a caller of `path`, where no method is. */
  refusal(path: string): string {
    if (path.startsWith('/v1/organizations/')) {
      return "there is no such method: GET /openapi.json has the methods of webhooks' management";
    }
    const nearest = this.#nearest(path);
    return nearest === undefined
      ? 'there is no such method: GET /descriptors.binpb has the definitions of all methods'
      : `there is no such method: did you mean ${nearest}?`;
  }

  #nearest(path: string): string | undefined {
    if (path.length > maxPathLength) return undefined;
    const asked = path.toLowerCase();
    let least = Math.min(maxEdits, Math.floor(asked.length / lettersPerEdit)) + 1;
    let nearest: string | undefined;
    for (const { path, names } of this.#names) {
      for (const name of names) {
        const edits = editsWithin(asked, name, least - 1);
        if (edits >= least) continue;
        least = edits;
        nearest = path;
      }
    }
    return nearest;
  }
}

/** The letters to change, add or remove to make `b` of `a`; more than `most` where it takes more than that. */
function editsWithin(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  // Edits by which the texts up to some letter of `a` and the letters of `b` around it become equal: cells of the
  // diagonal, by how much further `b` is. Beyond `most` it takes more than `most` edits to get there.
  let row = new Uint8Array(2 * most + 3).fill(most + 1);
  for (let further = 0; further <= most; further++) row[most + 1 + further] = further;
  for (let i = start; i < a.length; i++) {
    const next = new Uint8Array(2 * most + 3).fill(most + 1);
    let least = most + 1;
    for (let cell = 1; cell <= 2 * most + 1; cell++) {
      const j = i + cell - most - 1;
      if (j < start - 1 || j >= b.length) continue;
      const removed = (row[cell + 1] ?? 0) + 1;
      const changed = j < start ? removed : (row[cell] ?? 0) + (a[i] === b[j] ? 0 : 1);
      const added = j < start ? removed : (next[cell - 1] ?? 0) + 1;
      next[cell] = Math.min(removed, changed, added, most + 1);
      least = Math.min(least, next[cell] ?? 0);
    }
    if (least > most) return least;
    row = next;
  }
  return row[most + 1 + b.length - a.length] ?? most + 1;
}
