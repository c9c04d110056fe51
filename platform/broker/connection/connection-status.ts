// What happens to a connection, for those who leave before it ends: the client keeps whoever waits for more, and does
// not tell them of the end.

import type { NatsConnection, QueuedIterator, Status } from 'nats';

/** Ends with the connection, or when it is stopped. The client's types leave out that it can be. */
export function statusOf(connection: NatsConnection): QueuedIterator<Status> {
  const status = connection.status();
  if (!isQueue(status)) throw new Error('the status of a connection cannot be stopped');
  void connection.closed().then(() => status.stop());
  return status;
}

function isQueue(status: AsyncIterable<Status>): status is QueuedIterator<Status> {
  return 'stop' in status;
}
