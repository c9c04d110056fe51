-- Which profile an event belongs to, as 16 bytes: a hash keyed with two numbers drawn when this is first applied, so
-- that nobody can make up a distinct id that falls on another's profile. {random} is replaced by a drawn UInt64.
CREATE FUNCTION IF NOT EXISTS millraceProfileHash AS (project, distinct) ->
  sipHash128Keyed((toUInt64({random}), toUInt64({random})), project, distinct);

CREATE TABLE IF NOT EXISTS events (
  project_id LowCardinality(String),
  event_id UUID,
  kind LowCardinality(String),
  distinct_id String,
  cookieless Bool,
  profile_key UInt64 MATERIALIZED reinterpretAsUInt64(substring(millraceProfileHash(project_id, distinct_id), 1, 8)),
  session_id UUID,
  -- Sessions that no sender named: their writer finds the open ones again by these rows.
  session_derived Bool,
  occur_time DateTime64(3, 'UTC'),
  receive_time DateTime64(3, 'UTC'),
  shard UInt16,
  stream_seq UInt64,
  browser LowCardinality(String),
  browser_version LowCardinality(String),
  os LowCardinality(String),
  os_version LowCardinality(String),
  device LowCardinality(String),
  device_type LowCardinality(String),
  country LowCardinality(String),
  region LowCardinality(String),
  city LowCardinality(String),
  continent LowCardinality(String),
  timezone LowCardinality(String),
  hostname LowCardinality(String),
  pathname LowCardinality(String),
  url String,
  referrer LowCardinality(String),
  referrer_domain LowCardinality(String),
  channel LowCardinality(String),
  utm_source LowCardinality(String),
  utm_medium LowCardinality(String),
  utm_campaign LowCardinality(String),
  utm_term LowCardinality(String),
  utm_content LowCardinality(String),
  string_properties Map(String, String),
  int_properties Map(String, Int64),
  double_properties Map(String, Float64),
  bool_properties Map(String, Bool),
  time_properties Map(String, DateTime64(3, 'UTC')),
  INDEX ix_profile profile_key TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX ix_session session_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX ix_receive receive_time TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(occur_time)
ORDER BY (project_id, toDate(occur_time), kind, profile_key, occur_time)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
  min_bytes_for_wide_part = 268435456,
  -- Merges rewrite each row again and again, and cost more than its insert: fewer of them, of more parts each, and never
  -- column by column, which takes two to three times the CPU on a table of so many narrow columns. In exchange a merge
  -- has a block of every part in memory at once, so their number is bounded.
  merge_selector_base = 12, enable_vertical_merge_algorithm = 0, max_parts_to_merge_at_once = 30;

-- What the events of each distinct id add up to. `agent` and `place` are the greatest of texts that start with a moment,
-- so the latest: 8 bytes of occur_time, 16 of event_id, then the values, with a byte between them that no
-- UTF-8 text holds.
CREATE TABLE IF NOT EXISTS profile_activity (
  project_id LowCardinality(String),
  profile_id FixedString(16),
  first_seen SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
  last_seen SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
  first_received SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
  total_events SimpleAggregateFunction(sum, UInt64),
  pageviews SimpleAggregateFunction(sum, UInt64),
  sessions AggregateFunction(uniqExact, UUID),
  agent SimpleAggregateFunction(max, String),
  place SimpleAggregateFunction(max, String)
)
ENGINE = AggregatingMergeTree
ORDER BY (project_id, profile_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
  index_granularity = 64, min_bytes_for_wide_part = 1099511627776;

-- The part of it that a list of profiles is ordered and filtered by, in a layout for reading all of them.
CREATE TABLE IF NOT EXISTS profile_listing (
  project_id LowCardinality(String),
  profile_id FixedString(16),
  first_received SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
  agent SimpleAggregateFunction(max, String),
  place SimpleAggregateFunction(max, String)
)
ENGINE = AggregatingMergeTree
ORDER BY (project_id, profile_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
  merge_selector_base = 2;

CREATE MATERIALIZED VIEW IF NOT EXISTS profile_listing_view TO profile_listing AS
SELECT project_id, profile_id, first_received, agent, place FROM profile_activity;

CREATE MATERIALIZED VIEW IF NOT EXISTS profile_activity_view TO profile_activity AS
WITH
  concat(reverse(reinterpretAsFixedString(toUnixTimestamp64Milli(occur_time))), reinterpretAsFixedString(event_id)) AS moment,
  char(255) AS gap
SELECT
  project_id,
  millraceProfileHash(project_id, distinct_id) AS profile_id,
  min(occur_time) AS first_seen,
  max(occur_time) AS last_seen,
  min(receive_time) AS first_received,
  count() AS total_events,
  countIf(kind = 'page_view') AS pageviews,
  uniqExactState(session_id) AS sessions,
  maxIf(
    concat(moment, browser, gap, browser_version, gap, os, gap, os_version, gap, device),
    browser != '' OR os != '' OR device != '') AS agent,
  maxIf(concat(moment, country, gap, region, gap, city), country != '') AS place
FROM events
WHERE NOT cookieless
GROUP BY project_id, profile_id;
