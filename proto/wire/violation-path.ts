// Writes the path of a property for a violation, the same from the scanner and from the reference path. Holds no values
// of the request beyond the names of its members.

// Enough to recognise a name; a name may be as long as the body, and a message does not repeat it whole.
const maxShownCharacters = 64;

/** `customProperties["plan"]`. */
export function propertyPath(map: string, key: string): string {
  return `${map}[${JSON.stringify(shown(key))}]`;
}

/** The beginning of a member's name. */
export function shown(name: string): string {
  return name.slice(0, maxShownCharacters);
}
