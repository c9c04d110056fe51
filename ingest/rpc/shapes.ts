// BatchCreate's two request shapes, typed and short: the path of each, how its body is read, how its answer is written.
// The rules are ingest/validation's.

import { create, toBinary } from '@bufbuild/protobuf';
import * as short from '../../proto/gen/events/v1/events_pb.js';
import * as typed from '../../proto/gen/sdk/events/v1/events_pb.js';
import {
  readShortBinaryBody,
  readShortJsonBody,
  type ShortContext,
} from '../validation/short-shape.ts';
import { type ReadBody, readBinaryBody } from '../validation/text/reference-body.ts';
import { scanJsonBody } from '../validation/text/scan-body.ts';
import type { Accepted } from './answer.ts';

export interface ShapeRoute {
  readJson(received: Buffer, context: ShortContext): ReadBody;
  readBinary(received: Buffer, context: ShortContext): ReadBody;
  writeJson(accepted: Accepted): string;
  writeBinary(accepted: Accepted): Uint8Array;
}

interface TypedResponse {
  accepted: number;
  dropped?: number;
  droppedByReason?: Record<string, number>;
}

/** The typed shape's response; the short shape's has only the number of events. */
export function typedResponse({ events, dropped }: Accepted): TypedResponse {
  if (dropped === undefined) return { accepted: events };
  return { accepted: events, dropped: dropped.events, droppedByReason: dropped.byReason };
}

export const shapeRoutes: ReadonlyMap<string, ShapeRoute> = new Map([
  [
    '/sdk.events.v1.EventsService/BatchCreate',
    {
      readJson: scanJsonBody,
      readBinary: readBinaryBody,
      writeJson: (accepted: Accepted) =>
        accepted.dropped === undefined
          ? `{"accepted":${accepted.events}}`
          : JSON.stringify(typedResponse(accepted)),
      writeBinary: (accepted: Accepted) => {
        const message = create(typed.BatchCreateResponseSchema, typedResponse(accepted));
        return toBinary(typed.BatchCreateResponseSchema, message);
      },
    },
  ],
  [
    '/events.v1.EventsService/BatchCreate',
    {
      readJson: readShortJsonBody,
      readBinary: readShortBinaryBody,
      writeJson: ({ events }: Accepted) => `{"eventsCreated":${events}}`,
      writeBinary: ({ events }: Accepted) => {
        const message = create(short.BatchCreateResponseSchema, { eventsCreated: events });
        return toBinary(short.BatchCreateResponseSchema, message);
      },
    },
  ],
]);
