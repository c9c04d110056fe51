// The two shapes in which BatchCreate is served: where, how a body is read, and how the answer is written.

import { create, toBinary } from '@bufbuild/protobuf';
import * as plain from '../../proto/gen/events/v1/events_pb.js';
import * as typed from '../../proto/gen/sdk/events/v1/events_pb.js';
import {
  readShortBinaryBody,
  readShortJsonBody,
  type ShortContext,
} from '../validation/short-shape.ts';
import { type ReadBody, readBinaryBody } from '../validation/text/reference-body.ts';
import { scanJsonBody } from '../validation/text/scan-body.ts';
import type { Accepted } from './answer.ts';

export interface Shape {
  readJson(received: Buffer, context: ShortContext): ReadBody;
  readBinary(received: Buffer, context: ShortContext): ReadBody;
  writeJson(accepted: Accepted): string;
  writeBinary(accepted: Accepted): Uint8Array;
}

export interface TypedResponse {
  accepted: number;
  dropped?: number;
  droppedByReason?: Record<string, number>;
}

/** The typed shape's response; the short one has only what was created. */
export function typedResponse({ events, dropped }: Accepted): TypedResponse {
  if (dropped === undefined) return { accepted: events };
  return { accepted: events, dropped: dropped.events, droppedByReason: dropped.byReason };
}

export const shapes: ReadonlyMap<string, Shape> = new Map([
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
        const message = create(plain.BatchCreateResponseSchema, { eventsCreated: events });
        return toBinary(plain.BatchCreateResponseSchema, message);
      },
    },
  ],
]);
