// Tiles of a board that the service was too busy to answer: the board is asked again, as a question alone is.

import type {
  RenderResponse,
  TileError,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import type { RenderResponse as SharedResponse } from '../../proto/gen/public/dashboards/v1/shared_dashboards_pb.js';

/** The seconds until all such tiles can be asked again; undefined where there is none. */
export function busySeconds({ results }: RenderResponse): number | undefined {
  return longest(
    results.flatMap(({ outcome }) => (outcome.case === 'error' ? [outcome.value] : [])),
  );
}

export function busySecondsOfShared({ tiles }: SharedResponse): number | undefined {
  return longest(tiles.flatMap(({ content }) => (content.case === 'error' ? [content.value] : [])));
}

function longest(errors: readonly TileError[]): number | undefined {
  const seconds = errors.flatMap(({ retryAfterSeconds }) => retryAfterSeconds ?? []);
  return seconds.length > 0 ? Math.max(...seconds) : undefined;
}
