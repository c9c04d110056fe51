-- The 64-bit name of an event, keyed with two numbers drawn when this is first applied, so that nobody can make up an id
-- that is taken for another project's.
CREATE FUNCTION IF NOT EXISTS millraceEventKey AS (project, id) ->
  sipHash64Keyed((toUInt64({random}), toUInt64({random})), project, id);

-- The names of stored events that their writer has no room for in memory, in their own order: whether some are stored is
-- asked of a few rows each, which in events would be those of whole days.
CREATE TABLE IF NOT EXISTS event_ids (
  -- When it was put here: a message may have waited in its stream for days.
  added_day Date,
  event_key UInt64
)
ENGINE = MergeTree
PARTITION BY added_day
ORDER BY event_key
TTL added_day + INTERVAL 4 DAY
SETTINGS ttl_only_drop_parts = 1, index_granularity = 256, min_compress_block_size = 2048, merge_selector_base = 2,
  fsync_after_insert = 1, fsync_part_directory = 1;

-- How far they go: of the stream that was made then, every row up to `stream_seq` is in event_ids, and all of those were
-- received up to `receive_time`.
CREATE TABLE IF NOT EXISTS event_ids_reach (
  shard UInt16,
  stream_created DateTime64(3, 'UTC'),
  stream_seq UInt64,
  receive_time DateTime64(3, 'UTC'),
  added_day Date
)
ENGINE = MergeTree
ORDER BY (shard, stream_created)
TTL added_day + INTERVAL 4 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
