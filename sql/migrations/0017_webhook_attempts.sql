-- The log of webhook deliveries: one row for each attempt, and for each delivery that was not sent.
-- A record that is inserted twice replaces itself by its id. A day is one partition, which goes as a whole after 30 days.
CREATE TABLE IF NOT EXISTS webhook_attempts (
  organization_id String,
  webhook_id String,
  attempt_time DateTime64(3, 'UTC'),
  attempt_id String,
  delivery_id String,
  project_id String,
  event_id String,
  event_type LowCardinality(String),
  attempt UInt16,
  trigger LowCardinality(String),
  status LowCardinality(String),
  -- 0 without an answer.
  response_code UInt16,
  error LowCardinality(String),
  duration_ms UInt32,
  response_body String CODEC(ZSTD(1)),
  endpoint_url String CODEC(ZSTD(1)),
  -- 1970 where no attempt follows.
  next_attempt_time DateTime64(3, 'UTC'),
  accept_time DateTime64(3, 'UTC'),
  -- A delivery's first row: the one with its payload, unless that was too large.
  is_first Bool,
  payload String CODEC(ZSTD(1)),
  INDEX ix_delivery delivery_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX ix_status status TYPE set(5) GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toDate(attempt_time)
ORDER BY (organization_id, webhook_id, attempt_time, attempt_id)
TTL toDateTime(attempt_time) + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1, index_granularity = 1024, index_granularity_bytes = 1048576,
  non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1;
