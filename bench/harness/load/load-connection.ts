// One keep-alive connection of the load generator: writes a request's bytes, reads the answer's status and the number
// of accepted events. It understands the answers of our own servers only and is no general HTTP client.

import { connect, type Socket } from 'node:net';

export interface Answer {
  status: number;
  accepted: number;
}

export interface LoadConnection {
  /** Writes one whole request; the answer to the last one must have come. */
  send(request: Buffer): void;
  close(): void;
}

interface Listeners {
  onAnswer(answer: Answer): void;
  /** The connection broke, or the answer is not one of our servers'. */
  onBroken(error: Error): void;
}

const headEnd = Buffer.from('\r\n\r\n');

/** Resolves when connected; `listen` is called once, before anything can be answered. */
export async function openLoadConnection(
  baseUrl: string,
  listen: () => Listeners,
): Promise<LoadConnection> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  let closed = false;
  readAnswers(socket, listen(), () => closed);
  return {
    send: (request) => void socket.write(request),
    close() {
      closed = true;
      socket.destroy();
    },
  };
}

function readAnswers(socket: Socket, listeners: Listeners, isClosed: () => boolean): void {
  let partial: Buffer | undefined;
  socket.on('data', (chunk: Buffer) => {
    const bytes = partial === undefined ? chunk : Buffer.concat([partial, chunk]);
    const answer = parseAnswer(bytes);
    partial = answer === undefined ? bytes : undefined;
    if (answer instanceof Error) listeners.onBroken(answer);
    else if (answer !== undefined) listeners.onAnswer(answer);
  });
  socket.once('error', (error) => listeners.onBroken(error));
  socket.once('close', () => {
    if (!isClosed()) listeners.onBroken(new Error('the server closed a connection'));
  });
}

/** Undefined while bytes are missing. */
function parseAnswer(bytes: Buffer): Answer | Error | undefined {
  const headBytes = bytes.indexOf(headEnd);
  if (headBytes < 0) return undefined;
  const text = bytes.toString('latin1');
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(text)?.[1];
  if (length === undefined) return new Error(`an answer without content-length: ${text}`);
  if (bytes.length < headBytes + headEnd.length + Number(length)) return undefined;
  const accepted = /"accepted":(\d+)/.exec(text)?.[1];
  return { status: Number(text.slice(9, 12)), accepted: Number(accepted ?? 0) };
}
