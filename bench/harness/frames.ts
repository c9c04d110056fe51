// The broker messages that ingest would make of the benches' bodies, without HTTP and broker.

import type { Messages } from '../../pipeline/build/thread-messages.ts';
import { maxFrameBytes, maxFrameEvents } from '../../platform/limits.ts';
import {
  type EncodedRequest,
  encodeContext,
  packFrame,
  requestBytes,
} from '../../proto/wire/frame.ts';
import { encodeFrame } from '../../proto/wire/frame-writer.ts';
import type { Body } from '../../test/harness/requests/bodies.ts';

/** Every frame's. */
export const projectOfFrames = 'prj_bench';

/** Frames of public-key requests, one request a body, each frame as full as ingest makes it under load. */
export function makeFrames(bodies: readonly Body[], receiveTimeMs: number): Uint8Array[] {
  const frames: Uint8Array[] = [];
  let requests: EncodedRequest[] = [];
  let bytes = 0;
  let events = 0;
  const close = (): void => {
    if (requests.length > 0) frames.push(packed(encodeFrame(requests)));
    requests = [];
    bytes = 0;
    events = 0;
  };
  for (const body of bodies) {
    const request = requestOf(body, receiveTimeMs);
    const fits =
      bytes + requestBytes(request) <= maxFrameBytes && events + request.events <= maxFrameEvents;
    if (!fits) close();
    requests.push(request);
    bytes += requestBytes(request);
    events += request.events;
  }
  close();
  return frames;
}

/** The frames packed for a builder, with sequence numbers from `firstSeq` on. */
export function packFrames(frames: readonly Uint8Array[], firstSeq = 1): Messages {
  return {
    seqs: Float64Array.from(frames, (_, index) => firstSeq + index),
    lengths: Uint32Array.from(frames, (frame) => frame.length),
    bytes: Buffer.concat(frames),
  };
}

function packed(frame: Uint8Array): Uint8Array {
  return packFrame(frame, frame.length) ?? frame;
}

/** The request as ingest encodes it for a public key. */
export function requestOf(
  { bytes, idOffsets, userAgent }: Body,
  receiveTimeMs: number,
): EncodedRequest {
  const context = encodeContext({
    projectId: projectOfFrames,
    credential: 'public',
    receiveTimeMs,
    userAgent,
  });
  return { context, body: bytes, events: idOffsets.length };
}
