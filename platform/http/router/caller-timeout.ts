// Ends a unary call of the Connect router at its caller's time-out. The router only tells the handler, and most
// handlers have no use for it: their work is short, or has to be finished.

import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';

/** Must come first. A handler that is late goes on, and its answer is dropped; streams watch the signal themselves. */
export const endAtCallersTimeout: Interceptor = (next) => async (request) => {
  const { signal } = request;
  if (isTimedOut(signal)) throw timedOut();
  if (request.stream) return next(request);
  return new Promise((resolve, reject) => {
    const end = (): void => {
      if (isTimedOut(signal)) reject(timedOut());
    };
    signal.addEventListener('abort', end, { once: true });
    next(request).then(resolve, reject);
  });
};

/** An aborted signal has another reason where the caller has gone or the call is over. */
function isTimedOut({ reason }: AbortSignal): boolean {
  return reason instanceof ConnectError && reason.code === Code.DeadlineExceeded;
}

function timedOut(): ConnectError {
  const message = "the caller's time-out has passed: the call may still have its effect";
  return new ConnectError(message, Code.DeadlineExceeded);
}
