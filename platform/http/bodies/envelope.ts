// The envelope around a message in gRPC, gRPC-web and Connect's streams: a byte of flags and the length in front. Reads
// the body of a call that takes one message; decompressing and decoding that is not done here.

export const envelopeBytes = 5;

const compressedFlag = 1;
/** Connect's end of a stream and gRPC-web's trailers: no message. */
const endFlags = 0x82;

export type Enveloped =
  | { kind: 'message'; isCompressed: boolean; bytes: Buffer<ArrayBuffer> }
  /** Less is there than an envelope promises; `promised` is its length. */
  | { kind: 'cut'; promised: number }
  | { kind: 'messages'; count: number };

export function openEnvelope(body: Buffer<ArrayBuffer>): Enveloped {
  let count = 0;
  let message: Enveloped | undefined;
  for (let at = 0; at < body.length; ) {
    const start = at + envelopeBytes;
    if (start > body.length) return { kind: 'cut', promised: 0 };
    const flags = body.readUInt8(at);
    const promised = body.readUInt32BE(at + 1);
    at = start + promised;
    if (at > body.length) return { kind: 'cut', promised };
    if ((flags & endFlags) !== 0) continue;
    count++;
    // No method of compression makes nothing of something: an empty message is not compressed, whatever its flag says.
    const isCompressed = (flags & compressedFlag) !== 0 && promised > 0;
    message ??= { kind: 'message', isCompressed, bytes: body.subarray(start, at) };
  }
  return message !== undefined && count === 1 ? message : { kind: 'messages', count };
}

/** The envelope of an uncompressed message of this length. */
export function envelopeOf({ length }: Uint8Array): Buffer<ArrayBuffer> {
  const envelope = Buffer.alloc(envelopeBytes);
  envelope.writeUInt32BE(length, 1);
  return envelope;
}
