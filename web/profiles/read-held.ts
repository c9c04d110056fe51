// The stream of what is held of a person as lines of JSON. It is read as it comes: the code that writes any message as
// JSON is larger than a page's.

import { Code, ConnectError } from '@connectrpc/connect';
import { accessToken, hear } from '../client.ts';

const path = '/shared.profiles.v1.ProfilesService/GetDataSubject';
/** Before each message: a byte of flags, and its length in four. */
const headBytes = 5;
/** The flag of the last message, which tells of a failure. */
const isEnd = 2;

interface Frame {
  events?: unknown[];
  totals?: object;
  error?: { message?: string };
}

/** `onEvents` hears how many events there are so far. Throws where the stream breaks off, or has no end. */
export async function readHeld(
  projectId: string,
  id: string,
  signal: AbortSignal,
  onEvents: (events: number) => void,
): Promise<Blob> {
  const response = await fetch(path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await accessToken()}`,
      'content-type': 'application/connect+json',
      'x-project-id': projectId,
    },
    body: enveloped(JSON.stringify({ id })),
    signal,
  });
  hear();
  if (!response.ok) throw new ConnectError(Object(await response.json()).message, Code.Unknown);
  const lines: string[] = [];
  let events = 0;
  let isWhole = false;
  for await (const [flags, text] of framesOf(response)) {
    const frame: Frame = JSON.parse(text);
    if (frame.error) throw new ConnectError(frame.error.message ?? 'it broke off', Code.Unknown);
    if (flags & isEnd) break;
    lines.push(text, '\n');
    events += frame.events?.length ?? 0;
    isWhole = frame.totals !== undefined;
    onEvents(events);
  }
  if (!isWhole) throw new ConnectError('the stream broke off', Code.Unknown);
  return new Blob(lines);
}

function enveloped(text: string): Uint8Array<ArrayBuffer> {
  const message = new TextEncoder().encode(text);
  const bytes = new Uint8Array(headBytes + message.length);
  new DataView(bytes.buffer).setUint32(1, message.length);
  bytes.set(message, headBytes);
  return bytes;
}

async function* framesOf({ body }: Response): AsyncGenerator<[number, string]> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  let held = new Uint8Array(0);
  let parts: Uint8Array[] = [];
  let length = 0;
  let wanted = headBytes;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    parts.push(value);
    length += value.length;
    // A message of many parts is put together once.
    if (length < wanted) continue;
    held = joined(parts, length);
    for (wanted = sizeOf(held); held.length >= wanted; wanted = sizeOf(held)) {
      yield [held[0] ?? 0, decoder.decode(held.subarray(headBytes, wanted))];
      held = held.subarray(wanted);
    }
    parts = [held];
    length = held.length;
  }
}

/** Of the first message with its head, or of a head where that is not there. */
function sizeOf(bytes: Uint8Array): number {
  if (bytes.length < headBytes) return headBytes;
  return headBytes + new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
