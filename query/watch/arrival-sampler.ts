// Which arriving requests are read for their viewers, and how many: a bound on the work of the whole process, asked
// before a body is read.

import type { Clock } from '../../platform/clock.ts';
import { isObject } from '../../platform/json.ts';
import type { FrameRequest } from '../../proto/wire/frame.ts';
import { arrivingEvents, readArrivingEvent } from './arriving-event.ts';
import type { Arriving, Viewer } from './viewer.ts';

/** Bodies that are read in a second, of all projects with viewers alike: 4 MiB of JSON take some 40 ms. */
const maxBytesPerSecond = 4 * 1_048_576;
/** A thousand medium events, and 10 ms at a time. A larger body is counted and not read. */
const maxBodyBytes = 1_048_576;

export class ArrivalSampler {
  readonly #clock: Clock;
  #second = 0;
  /** Read in this second, by project. */
  readonly #bytes = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Shows a request's events to its viewers; their messages are made where one has room for them. Each of `projects`
   * that have viewers has the same share of the bytes.
   */
  arrive(
    { context, body, events: count }: FrameRequest,
    viewers: Iterable<Viewer>,
    projects: number,
  ): void {
    const roomy: Viewer[] = [];
    for (const viewer of viewers) {
      viewer.countArriving(count);
      if (!viewer.followsEvents) continue;
      if (viewer.hasRoom) roomy.push(viewer);
      else viewer.countSampledOut(count);
    }
    if (roomy.length === 0) return;
    if (!this.#hasBytes(context.projectId, body.length, maxBytesPerSecond / projects)) {
      for (const viewer of roomy) viewer.countSampledOut(count);
      return;
    }
    const events = arrivingEvents({ body });
    for (const json of events) {
      let event: ReturnType<Arriving['event']> | null = null;
      const kind = isObject(json) && typeof json['kind'] === 'string' ? json['kind'] : '';
      const arriving: Arriving = {
        kind,
        event() {
          if (event === null) event = readArrivingEvent(json, context);
          return event;
        },
      };
      for (const viewer of roomy) viewer.arrive(arriving, context.receiveTimeMs);
    }
  }

  #hasBytes(projectId: string, bytes: number, share: number): boolean {
    const second = Math.floor(this.#clock.nowMs() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#bytes.clear();
    }
    const before = this.#bytes.get(projectId) ?? 0;
    if (bytes > maxBodyBytes || before + bytes > share) return false;
    this.#bytes.set(projectId, before + bytes);
    return true;
  }
}
