// What a user is called, on every page.

/** Of ids that senders draw for those whom nobody has named. */
const anonymousPrefix = 'anon-';
/** Hex digits of a profile's id that stand for it. */
const shownDigits = 8;

interface NamedUser {
  /** Of the profile. */
  id: string;
  /** As the site names it; empty for an anonymous one. */
  externalId: string;
  properties?: { [name: string]: unknown } | undefined;
}

/** A trait that names the user, the id of the site, or the beginning of our own id: "Visitor 3fa94c01". */
export function userName({ id, externalId, properties = {} }: NamedUser): string {
  for (const key of ['name', 'displayName', 'display_name', 'email']) {
    const value = properties[key];
    if (typeof value === 'string' && value !== '') return value;
  }
  return idName(externalId, id);
}

/** The same of somebody of whom only ids are told: `profileId` is empty for a cookieless visitor. */
export function idName(distinctId: string, profileId: string): string {
  const isAnonymous = distinctId === '' || distinctId.startsWith(anonymousPrefix);
  return isAnonymous && profileId !== ''
    ? `Visitor ${profileId.slice(0, shownDigits)}`
    : distinctId;
}
