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

interface NamedVisitor {
  userName: string;
  profileId: string;
  distinctId: string;
}

/** A trait that names the user, the id of the site, or the beginning of our own id: "Visitor 3fa94c01". */
export function userName({ id, externalId, properties = {} }: NamedUser): string {
  for (const key of ['name', 'displayName', 'display_name', 'email']) {
    const value = properties[key];
    if (typeof value === 'string' && value !== '') return value;
  }
  const isAnonymous = externalId === '' || externalId.startsWith(anonymousPrefix);
  return isAnonymous ? unnamed(id) : externalId;
}

/** The same of a visit's user, whom the service names; without a profile, the id that was sent. */
export function visitorName({ userName: name, profileId, distinctId }: NamedVisitor): string {
  if (profileId === '') return distinctId;
  return name === '' || name.startsWith(anonymousPrefix) ? unnamed(profileId) : name;
}

function unnamed(profileId: string): string {
  return `Visitor ${profileId.slice(0, shownDigits)}`;
}
