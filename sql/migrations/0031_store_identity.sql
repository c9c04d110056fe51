-- Names this database: the broker, in its bucket `instance`, names one of these ids. A process that does not find that one
-- here has another ClickHouse than the broker's events are in. Each start may add an id.
CREATE TABLE IF NOT EXISTS store_identity (
  store_id String,
  claimed_at DateTime64(3, 'UTC')
)
ENGINE = MergeTree
ORDER BY store_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
