-- Accepted events that became no rows, for their project's people: when, why and which, and never what was in them. The
-- letters themselves are in the broker's stream of dead letters.
-- A batch that is built again writes the same rows again: each replaces itself by its place in the stream.
CREATE TABLE IF NOT EXISTS dead_letters (
  project_id String,
  -- When the request came.
  time DateTime64(3, 'UTC'),
  shard UInt16,
  stream_seq UInt64,
  -- The places of the request in its frame and of the event in its request; -1 for a whole frame or request.
  request Int32,
  event Int32,
  reason LowCardinality(String),
  kind String,
  event_id String,
  -- Events in the letter.
  events UInt32
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, time, shard, stream_seq, request, event)
TTL toDateTime(time) + INTERVAL 30 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
