// How long a connection may keep us waiting, and how much it may ask at once: the same for HTTP/1.1 and HTTP/2.

export interface Patience {
  /** A request must arrive whole within this time. */
  requestMs: number;
  /** Its headers must; so must the first request of a connection. */
  headersMs: number;
  /** A connection without a request is closed after this time. */
  keepAliveMs: number;
  /** A reader that takes nothing of its answer for this long is cut off, however long the answer has been running. */
  stallMs: number;
}

export const defaultPatience: Patience = {
  // A slow sender holds a connection, but not for long.
  requestMs: 60_000,
  headersMs: 20_000,
  // Longer than the idle time-outs of common load balancers (60 s), so that they close first.
  keepAliveMs: 65_000,
  // A train's tunnel is shorter. Of HTTP/2, a piece of an answer must be taken whole: 1 MiB at 17 kB/s.
  stallMs: 60_000,
};

export const maxHeaderBytes = 16_384;
/** Of one session; RFC 9113 advises against fewer, and clients take it for the default. */
export const maxStreams = 100;
/** Of one connection of HTTP/1.1. Clients wait for an answer before they ask again; HTTP/2 is for the others. */
export const maxPipelinedRequests = 16;
