// The error of a command that ends with one sentence. It stands alone: whoever throws it need not load a client.

/** An error whose message is one sentence for the person at the terminal. */
export class RequestRefused extends Error {}
