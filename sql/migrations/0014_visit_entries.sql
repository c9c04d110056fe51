-- The first event of a session in each UTC day, column by column: as texts in `visits` they had to be taken apart visit by
-- visit. README.md says what the table serves. The earliest event has the greatest `precedence`: the complement of its
-- moment and its id. A row that is written again changes nothing, so that the table needs no token.
CREATE TABLE IF NOT EXISTS visit_entries (
  project_id LowCardinality(String),
  day Date,
  session_id UUID,
  precedence UInt256,
  occur_time DateTime64(3, 'UTC'),
  kind LowCardinality(String),
  pathname LowCardinality(String),
  referrer_domain LowCardinality(String),
  channel LowCardinality(String),
  utm_source LowCardinality(String),
  utm_medium LowCardinality(String),
  utm_campaign LowCardinality(String),
  country LowCardinality(String),
  browser LowCardinality(String),
  os LowCardinality(String),
  device_type LowCardinality(String)
)
ENGINE = ReplacingMergeTree(precedence)
PARTITION BY toYYYYMM(day)
ORDER BY (project_id, day, session_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 268435456;

CREATE MATERIALIZED VIEW IF NOT EXISTS visit_entries_view TO visit_entries AS
SELECT
  project_id,
  toDate(occur_time) AS day,
  session_id,
  bitNot(bitOr(bitShiftLeft(toUInt256(toUnixTimestamp64Milli(occur_time)), 128), toUInt256(toUInt128(event_id)))) AS precedence,
  occur_time,
  kind,
  pathname,
  referrer_domain,
  channel,
  utm_source,
  utm_medium,
  utm_campaign,
  country,
  browser,
  os,
  device_type
FROM events;

INSERT INTO visit_entries
SELECT
  project_id,
  toDate(occur_time) AS day,
  session_id,
  bitNot(bitOr(bitShiftLeft(toUInt256(toUnixTimestamp64Milli(occur_time)), 128), toUInt256(toUInt128(event_id)))) AS precedence,
  occur_time,
  kind,
  pathname,
  referrer_domain,
  channel,
  utm_source,
  utm_medium,
  utm_campaign,
  country,
  browser,
  os,
  device_type
FROM events
WHERE toDate(occur_time) = '{day}'
SETTINGS max_block_size = 65536, min_insert_block_size_rows = 524288, min_insert_block_size_bytes = 67108864;

-- What visit_entries has now is no longer written as texts.
ALTER TABLE visits_view MODIFY QUERY
SELECT
  project_id,
  toDate(occur_time) AS day,
  session_id,
  cookieless,
  occur_time AS first_time,
  occur_time AS last_time,
  toUInt64(1) AS events,
  toUInt64(kind = 'page_view') AS views,
  concat(reverse(reinterpretAsFixedString(toUnixTimestamp64Milli(occur_time))), UUIDToNum(event_id), kind, char(255), pathname) AS exit
FROM events;

ALTER TABLE visits DROP COLUMN IF EXISTS entry;
