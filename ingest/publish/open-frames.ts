// Frames that are being gathered: which frame a request shares with others, and the bytes of a frame that is complete.
// Sending them is publish.ts's.

import { maxFrameEvents as defaultMaxFrameEvents } from '../../platform/limits.ts';
import { freeMemory } from '../../platform/memory/free-memory.ts';
import {
  type EncodedRequest,
  FRAME_HEADER_BYTES,
  isImportMark,
  requestBytes,
} from '../../proto/wire/frame.ts';
import { FrameWriter } from '../../proto/wire/frame-writer.ts';
import { FramePacking } from './frame-packing.ts';
import type { Frame } from './sent-frames.ts';

interface OpenFrame {
  frame: Frame;
  writer: FrameWriter;
}

interface OpenFramesOptions {
  maxFrameBytes: number;
  maxFrameEvents?: number;
  isApart?: (project: number) => boolean;
  lz4: boolean;
  /** Takes a complete frame: the turn has ended, or the next request has no room in it. */
  send(frame: Frame): void;
}

/** From this size on a request gains nothing by sharing a frame with others', and others would wait with it. */
const minApartBytes = 16_384;

/** Writers of sent frames are kept for the next ones, except those that a large body made grow. */
const maxKeptWriters = 4;

const noBytes = new Uint8Array();

export class OpenFrames {
  readonly #options: OpenFramesOptions;
  readonly #packing: FramePacking;
  /** With the requests of the current turn, at most one for each shard … */
  readonly #shared = new Map<number, OpenFrame>();
  /** … and one for each project that has a frame of its own, by its mark. */
  readonly #apart = new Map<number, OpenFrame>();
  readonly #writers: FrameWriter[] = [];
  #bytes = 0;

  constructor(options: OpenFramesOptions) {
    this.#options = options;
    this.#packing = new FramePacking(options.lz4);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Copies the request into its frame. */
  append(shard: number, request: EncodedRequest): Frame {
    const bytes = requestBytes(request);
    const { frame, writer } = this.#frameFor(shard, bytes, request);
    writer.append(request);
    frame.bytes = writer.length;
    frame.events = writer.events;
    this.#bytes += bytes;
    return frame;
  }

  sendAll(): void {
    for (const open of this.#takeAll()) this.#close(open);
  }

  /** Frees the open frames unsent, and returns them. */
  dropAll(): Frame[] {
    this.#bytes = 0;
    return this.#takeAll().map(({ frame }) => frame);
  }

  /** Sends the open frame of a project that has one of its own. */
  sendApart(project: number | undefined): void {
    this.#sendOf(this.#apart, project);
  }

  /** The open frame for a request. Sends a frame without room for the request and opens another. */
  #frameFor(shard: number, bytes: number, request: EncodedRequest): OpenFrame {
    const { maxFrameBytes, maxFrameEvents = defaultMaxFrameEvents } = this.#options;
    const { events, project, isAlone = false } = request;
    if (isAlone) this.#sendBefore(shard, project);
    const isApart = project !== undefined && (isAlone || this.#isApart(project, bytes));
    const [open, key] = isApart ? [this.#apart, project] : [this.#shared, shard];
    const current = open.get(key);
    if (current !== undefined) {
      const { writer } = current;
      const hasRoom =
        writer.length + bytes <= maxFrameBytes &&
        writer.events + events <= maxFrameEvents &&
        writer.hasRoomFor(project);
      if (hasRoom) return current;
      open.delete(key);
      this.#close(current);
    }
    const opened = this.#openFrame(shard, isApart ? FRAME_HEADER_BYTES + bytes : maxFrameBytes);
    open.set(key, opened);
    return opened;
  }

  /** Sends the open frames that have requests of a project: those came before one that has a frame of its own. */
  #sendBefore(shard: number, project: number | undefined): void {
    const shared = this.#shared.get(shard);
    if (project !== undefined && shared?.writer.holds(project) === true) {
      this.#sendOf(this.#shared, shard);
    }
    this.#sendOf(this.#apart, project);
  }

  #sendOf(open: Map<number, OpenFrame>, key: number | undefined): void {
    const current = key === undefined ? undefined : open.get(key);
    if (key === undefined || current === undefined) return;
    open.delete(key);
    this.#close(current);
  }

  #isApart(project: number, bytes: number): boolean {
    const isLarge = bytes >= minApartBytes || isImportMark(project);
    return isLarge || this.#options.isApart?.(project) === true;
  }

  /** `capacity` bounds what many frames of one turn hold: it grows where requests follow. */
  #openFrame(shard: number, capacity: number): OpenFrame {
    const isKept = capacity <= this.#options.maxFrameBytes;
    const writer = (isKept && this.#writers.pop()) || new FrameWriter(capacity);
    const frame: Frame = {
      shard,
      settle: [],
      bytes: FRAME_HEADER_BYTES,
      message: noBytes,
      events: 0,
      unconfirmedEvents: 0,
      openedAtMs: performance.now(),
      isSettled: false,
      ...{ firstSend: 0, lastSend: 0, sentAtMs: 0, isRefused: false },
    };
    this.#bytes += FRAME_HEADER_BYTES;
    return { frame, writer };
  }

  #takeAll(): OpenFrame[] {
    const open = [...this.#shared.values(), ...this.#apart.values()];
    this.#shared.clear();
    this.#apart.clear();
    return open;
  }

  #close({ frame, writer }: OpenFrame): void {
    this.#bytes -= frame.bytes;
    frame.message = this.#messageOf(writer);
    this.#options.send(frame);
  }

  /** Copies the gathered frame out, so that its writer can be reused. */
  #messageOf(writer: FrameWriter): Uint8Array {
    const gathered = writer.frame();
    const packed = this.#packing.pack(gathered);
    const message = packed === gathered ? gathered.slice() : packed;
    writer.clear();
    const { maxFrameBytes } = this.#options;
    const isKept = this.#writers.length < maxKeptWriters && writer.capacity <= maxFrameBytes;
    if (isKept) this.#writers.push(writer);
    else freeMemory(gathered);
    return message;
  }
}
