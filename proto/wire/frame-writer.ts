// Writes frames, one after the other in the same memory. Their layout, and how they are packed and read, is frame.ts's.

import {
  COMPRESSION_NONE,
  type EncodedRequest,
  FRAME_HEADER_BYTES,
  MAGIC,
  maxFrameProjects,
  PROJECT_BYTES,
  REQUEST_HEADER_BYTES,
  requestBytes,
  VERSION,
  viewOf,
} from './frame.ts';

/**
 * Builds one frame after the other in the same memory, copying each request as it comes: the caller need not keep
 * bodies, and the garbage collector has nothing to do.
 */
export class FrameWriter {
  #bytes: Buffer;
  #view: DataView;
  #length = FRAME_HEADER_BYTES;
  #requests = 0;
  #events = 0;
  readonly #projects = new Set<number>();
  #isMarked = true;

  /** `capacity` is in bytes; it grows where a frame needs more. */
  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(capacity, FRAME_HEADER_BYTES));
    this.#view = viewOf(this.#bytes);
  }

  get capacity(): number {
    return this.#bytes.length;
  }

  /** The frame's bytes so far. */
  get length(): number {
    return this.#length;
  }

  get events(): number {
    return this.#events;
  }

  /** Whether one more request of the project leaves the frame within `maxFrameProjects`. */
  hasRoomFor(project: number | undefined): boolean {
    const { size } = this.#projects;
    return size < maxFrameProjects || project === undefined || this.#projects.has(project);
  }

  /** Whether the frame has a request of the project. */
  holds(project: number): boolean {
    return this.#projects.has(project);
  }

  append(request: EncodedRequest): void {
    const { context, body, events, project } = request;
    if (project === undefined) this.#isMarked = false;
    else this.#projects.add(project);
    const start = this.#length;
    this.#length += requestBytes(request);
    if (this.#length > this.#bytes.length) this.#grow(start, this.#length);
    this.#view.setUint32(start, context.length, true);
    this.#view.setUint32(start + 4, body.length, true);
    this.#view.setUint32(start + 8, events, true);
    const contextStart = start + REQUEST_HEADER_BYTES;
    this.#bytes.write(context, contextStart, 'latin1');
    this.#bytes.set(body, contextStart + context.length);
    this.#requests++;
    this.#events += events;
  }

  /** The frame, as a view that is valid until the writer is used again. */
  frame(): Uint8Array {
    this.#bytes[0] = MAGIC;
    this.#bytes[1] = VERSION;
    this.#bytes[2] = COMPRESSION_NONE;
    const isMarked = this.#isMarked && this.#projects.size <= maxFrameProjects;
    const projects = isMarked ? [...this.#projects] : [];
    this.#bytes[3] = projects.length;
    this.#view.setUint32(4, this.#length - FRAME_HEADER_BYTES, true);
    this.#view.setUint32(8, this.#requests, true);
    this.#view.setUint32(12, this.#events, true);
    const end = this.#length + PROJECT_BYTES * projects.length;
    if (end > this.#bytes.length) this.#grow(this.#length, end);
    for (const [index, project] of projects.entries()) {
      this.#view.setUint32(this.#length + PROJECT_BYTES * index, project, true);
    }
    return new Uint8Array(this.#bytes.buffer, 0, end);
  }

  clear(): void {
    this.#length = FRAME_HEADER_BYTES;
    this.#requests = 0;
    this.#events = 0;
    this.#projects.clear();
    this.#isMarked = true;
  }

  #grow(keptLength: number, neededLength: number): void {
    const bytes = Buffer.allocUnsafeSlow(Math.max(neededLength, 2 * this.#bytes.length));
    bytes.set(this.#bytes.subarray(0, keptLength));
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }
}

/** One frame of all requests, in order. */
export function encodeFrame(requests: readonly EncodedRequest[]): Uint8Array {
  const bytes = requests.reduce((sum, request) => sum + requestBytes(request), FRAME_HEADER_BYTES);
  const writer = new FrameWriter(bytes);
  for (const request of requests) writer.append(request);
  return writer.frame();
}
