// Why JetStream failed a call: the numbers that nats-server gives its errors (err_code, server/errors.json), those that
// anything here tells apart.

/** Fewer servers than a stream's copies. */
export const noPeers = 10_005;
/** Several copies at a server that is in no cluster. */
export const notClustered = 10_074;
/** The server's storage is used up. */
export const outOfStorage = 10_047;
/** So is what the account may have (10002), or the server's memory (10023). */
export const outOfRoom: ReadonlySet<number> = new Set([10_002, 10_023, outOfStorage]);
/** Any failure of the store: its text tells a full stream from a broken disk. */
export const storeFailed = 10_077;

export const noSuchStream = 10_059;
export const noSuchConsumer = 10_014;
export const noSuchMessage = 10_037;
/** A stream of another configuration has the name. */
export const nameInUse = 10_058;
/** Another stream has one of the subjects. */
export const subjectsOverlap = 10_065;

/** A compare-and-set came too late. */
export const wrongLastSequence = 10_071;
export const messageTooLarge = 10_054;
