-- Sums of events, at a grain that serves every time zone: zones are off by whole quarters of an hour. README.md says what
-- each table serves. No expression of a view may throw: the rows would be in `events` and the insert would fail for ever.

-- Events of a kind in each quarter of an hour.
CREATE TABLE IF NOT EXISTS event_counts (
  project_id LowCardinality(String),
  kind LowCardinality(String),
  quarter DateTime('UTC'),
  events SimpleAggregateFunction(sum, UInt64),
  cookieless_events SimpleAggregateFunction(sum, UInt64)
)
ENGINE = AggregatingMergeTree
ORDER BY (project_id, kind, quarter)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
  min_bytes_for_wide_part = 1099511627776;

-- A UTC day of a profile: bit n of `morning` is the quarter n of the day, bit n of `evening` the quarter 48 + n.
CREATE TABLE IF NOT EXISTS profile_days (
  project_id LowCardinality(String),
  day Date,
  profile_key UInt64,
  cookieless SimpleAggregateFunction(max, Bool),
  morning SimpleAggregateFunction(groupBitOr, UInt64),
  evening SimpleAggregateFunction(groupBitOr, UInt64),
  events SimpleAggregateFunction(sum, UInt64)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (project_id, day, profile_key)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
  min_bytes_for_wide_part = 268435456;

-- A UTC day of a session. `entry` and `exit` are the least and the greatest of texts that start with a moment, so those
-- of the first and the last event: 8 bytes of occur_time, 16 of event_id, then the kind and the values of some columns,
-- with a byte between them that no UTF-8 text holds.
CREATE TABLE IF NOT EXISTS visits (
  project_id LowCardinality(String),
  day Date,
  session_id UUID,
  cookieless SimpleAggregateFunction(max, Bool),
  first_time SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
  last_time SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
  events SimpleAggregateFunction(sum, UInt64),
  views SimpleAggregateFunction(sum, UInt64),
  entry SimpleAggregateFunction(min, String),
  exit SimpleAggregateFunction(max, String)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (project_id, day, session_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
  min_bytes_for_wide_part = 268435456;

-- Names of properties. `type` is the map that holds the value (string, int, double, bool, time), or `column` where it is
-- a non-empty string of a well-known property. Type `event`: all events of the kind. Type `cut`: names are missing.
CREATE TABLE IF NOT EXISTS property_keys (
  project_id LowCardinality(String),
  kind LowCardinality(String),
  property String,
  type LowCardinality(String),
  events SimpleAggregateFunction(sum, UInt64),
  last_received SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
)
ENGINE = AggregatingMergeTree
ORDER BY (project_id, kind, property, type)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
  min_bytes_for_wide_part = 1099511627776;

-- Changes whenever a profile, a merge or a deletion of the project is stored. No window: a repeated row only tells of a
-- change that was none.
CREATE TABLE IF NOT EXISTS project_changes (
  project_id LowCardinality(String),
  newest_version SimpleAggregateFunction(max, UInt64),
  changes SimpleAggregateFunction(sum, UInt64)
)
ENGINE = AggregatingMergeTree
ORDER BY project_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 1099511627776;

-- What was there before the views. Each statement may run again, after a crash or in a second process: its blocks are the
-- same, because ORDER BY ALL fixes their rows, and the tokens drop those that are stored. A process that comes after the
-- first has finished, which may have begun to write, adds nothing. Large tables are filled a day at a time, because a day
-- fits into memory.
INSERT INTO event_counts
SELECT
  project_id,
  kind,
  toStartOfFifteenMinutes(occur_time) AS quarter,
  count() AS events,
  countIf(cookieless) AS cookieless_events
FROM events
WHERE (SELECT count() FROM schema_migrations WHERE name = '0010_rollups.sql') = 0
GROUP BY project_id, kind, quarter
ORDER BY ALL
SETTINGS insert_deduplication_token = '0010_rollups event_counts', max_block_size = 65536,
  min_insert_block_size_rows = 65536, min_insert_block_size_bytes = 0;

INSERT INTO profile_days
WITH
  positiveModulo(intDiv(toUnixTimestamp64Milli(occur_time), 900000), 96) AS quarter,
  bitShiftLeft(toUInt64(1), quarter % 48) AS bit
SELECT
  project_id,
  toDate(occur_time) AS day,
  profile_key,
  max(cookieless) AS cookieless,
  groupBitOr(if(quarter < 48, bit, 0)) AS morning,
  groupBitOr(if(quarter < 48, 0, bit)) AS evening,
  count() AS events
FROM events
WHERE toDate(occur_time) = '{day}' AND (SELECT count() FROM schema_migrations WHERE name = '0010_rollups.sql') = 0
GROUP BY project_id, day, profile_key
ORDER BY ALL
SETTINGS insert_deduplication_token = '0010_rollups profile_days {day}', max_block_size = 65536,
  min_insert_block_size_rows = 65536, min_insert_block_size_bytes = 0;

INSERT INTO visits
WITH
  concat(reverse(reinterpretAsFixedString(toUnixTimestamp64Milli(occur_time))), UUIDToNum(event_id)) AS moment,
  char(255) AS gap
SELECT
  project_id,
  toDate(occur_time) AS day,
  session_id,
  max(cookieless) AS cookieless,
  min(occur_time) AS first_time,
  max(occur_time) AS last_time,
  count() AS events,
  countIf(kind = 'page_view') AS views,
  min(concat(moment, kind, gap, pathname, gap, referrer_domain, gap, channel, gap, utm_source, gap, utm_medium, gap,
    utm_campaign, gap, country, gap, browser, gap, os, gap, device_type)) AS entry,
  max(concat(moment, kind, gap, pathname)) AS exit
FROM events
WHERE toDate(occur_time) = '{day}' AND (SELECT count() FROM schema_migrations WHERE name = '0010_rollups.sql') = 0
GROUP BY project_id, day, session_id
ORDER BY ALL
SETTINGS insert_deduplication_token = '0010_rollups visits {day}', max_block_size = 65536,
  min_insert_block_size_rows = 65536, min_insert_block_size_bytes = 0;

INSERT INTO property_keys
SELECT
  project_id,
  if(place > 100000 OR map = 'cut', '', of_kind) AS kind,
  if(place > 100000, '', name) AS property,
  if(place > 100000, 'cut', map) AS type,
  sum(together) AS events,
  max(latest) AS last_received
FROM (
  SELECT
    project_id,
    of_kind,
    named.1 AS map,
    named.2 AS name,
    sum(same) AS together,
    max(received) AS latest,
    row_number() OVER (PARTITION BY project_id ORDER BY named.1 IN ('event', 'cut') DESC, sum(same) DESC, of_kind, named) AS place
  FROM (
    SELECT
      project_id,
      kind AS of_kind,
      mapKeys(string_properties) AS strings,
      mapKeys(int_properties) AS ints,
      mapKeys(double_properties) AS doubles,
      mapKeys(bool_properties) AS bools,
      mapKeys(time_properties) AS times,
      (browser != '') + 2 * (browser_version != '') + 4 * (os != '') + 8 * (os_version != '') +
        16 * (device != '') + 32 * (device_type != '') + 64 * (country != '') + 128 * (region != '') +
        256 * (city != '') + 512 * (continent != '') + 1024 * (timezone != '') + 2048 * (hostname != '') +
        4096 * (pathname != '') + 8192 * (url != '') + 16384 * (referrer != '') + 32768 * (referrer_domain != '') +
        65536 * (channel != '') + 131072 * (utm_source != '') + 262144 * (utm_medium != '') +
        524288 * (utm_campaign != '') + 1048576 * (utm_term != '') + 2097152 * (utm_content != '') AS columns,
      count() AS same,
      max(receive_time) AS received,
      sum(length(strings) + length(ints) + length(doubles) + length(bools) + length(times))
        OVER (PARTITION BY project_id ORDER BY count() DESC ROWS UNBOUNDED PRECEDING) AS heaped
    FROM events
    WHERE (SELECT count() FROM schema_migrations WHERE name = '0010_rollups.sql') = 0
    GROUP BY project_id, of_kind, strings, ints, doubles, bools, times, columns
  )
  ARRAY JOIN if(heaped > 1000000, [('event', ''), ('cut', '')], arrayConcat(
    [('event', '')],
    arrayMap(key -> ('string', key), strings),
    arrayMap(key -> ('int', key), ints),
    arrayMap(key -> ('double', key), doubles),
    arrayMap(key -> ('bool', key), bools),
    arrayMap(key -> ('time', key), times),
    arrayMap(bit -> ('column', [
        '$browser', '$browserVersion', '$os', '$osVersion', '$device', '$deviceType', '$country', '$region', '$city',
        '$continent', '$timezone', '$hostname', '$pathname', '$url', '$referrer', '$referrerDomain', '$channel',
        '$utmSource', '$utmMedium', '$utmCampaign', '$utmTerm', '$utmContent'
      ][bit + 1]), bitPositionsToArray(columns)))) AS named
  GROUP BY project_id, of_kind, named
)
GROUP BY project_id, kind, property, type
ORDER BY ALL
SETTINGS insert_deduplication_token = '0010_rollups property_keys', max_block_size = 65536,
  min_insert_block_size_rows = 65536, min_insert_block_size_bytes = 0;

INSERT INTO project_changes SELECT project_id, max(version), count() FROM profiles GROUP BY project_id;

CREATE MATERIALIZED VIEW IF NOT EXISTS event_counts_view TO event_counts AS
SELECT
  project_id,
  kind,
  toStartOfFifteenMinutes(occur_time) AS quarter,
  count() AS events,
  countIf(cookieless) AS cookieless_events
FROM events
GROUP BY project_id, kind, quarter;

CREATE MATERIALIZED VIEW IF NOT EXISTS profile_days_view TO profile_days AS
WITH
  positiveModulo(intDiv(toUnixTimestamp64Milli(occur_time), 900000), 96) AS quarter,
  bitShiftLeft(toUInt64(1), quarter % 48) AS bit
SELECT
  project_id,
  toDate(occur_time) AS day,
  profile_key,
  max(cookieless) AS cookieless,
  groupBitOr(if(quarter < 48, bit, 0)) AS morning,
  groupBitOr(if(quarter < 48, 0, bit)) AS evening,
  count() AS events
FROM events
GROUP BY project_id, day, profile_key;

-- A row for each event: the engine makes one of the rows of a key when it writes the part. Grouped here, 32,000 visits of
-- long paths would take more memory than a statement has.
CREATE MATERIALIZED VIEW IF NOT EXISTS visits_view TO visits AS
WITH
  concat(reverse(reinterpretAsFixedString(toUnixTimestamp64Milli(occur_time))), UUIDToNum(event_id)) AS moment,
  char(255) AS gap
SELECT
  project_id,
  toDate(occur_time) AS day,
  session_id,
  cookieless,
  occur_time AS first_time,
  occur_time AS last_time,
  toUInt64(1) AS events,
  toUInt64(kind = 'page_view') AS views,
  concat(moment, kind, gap, pathname, gap, referrer_domain, gap, channel, gap, utm_source, gap, utm_medium, gap,
    utm_campaign, gap, country, gap, browser, gap, os, gap, device_type) AS entry,
  concat(moment, kind, gap, pathname) AS exit
FROM events;

-- Events with the same names are counted as one before their names are taken apart. A block adds at most 2,000 names of
-- a project, the most frequent ones, and looks at 50,000, and at 500,000 of all projects: no sender may fill the table,
-- or the engine's memory.
CREATE MATERIALIZED VIEW IF NOT EXISTS property_keys_view TO property_keys AS
SELECT
  project_id,
  if(place > 2000 OR map = 'cut', '', of_kind) AS kind,
  if(place > 2000, '', name) AS property,
  if(place > 2000, 'cut', map) AS type,
  sum(together) AS events,
  max(latest) AS last_received
FROM (
  SELECT
    project_id,
    of_kind,
    named.1 AS map,
    named.2 AS name,
    sum(same) AS together,
    max(received) AS latest,
    row_number() OVER (PARTITION BY project_id ORDER BY named.1 IN ('event', 'cut') DESC, sum(same) DESC, of_kind, named) AS place
  FROM (
    SELECT
      project_id,
      kind AS of_kind,
      mapKeys(string_properties) AS strings,
      mapKeys(int_properties) AS ints,
      mapKeys(double_properties) AS doubles,
      mapKeys(bool_properties) AS bools,
      mapKeys(time_properties) AS times,
      (browser != '') + 2 * (browser_version != '') + 4 * (os != '') + 8 * (os_version != '') +
        16 * (device != '') + 32 * (device_type != '') + 64 * (country != '') + 128 * (region != '') +
        256 * (city != '') + 512 * (continent != '') + 1024 * (timezone != '') + 2048 * (hostname != '') +
        4096 * (pathname != '') + 8192 * (url != '') + 16384 * (referrer != '') + 32768 * (referrer_domain != '') +
        65536 * (channel != '') + 131072 * (utm_source != '') + 262144 * (utm_medium != '') +
        524288 * (utm_campaign != '') + 1048576 * (utm_term != '') + 2097152 * (utm_content != '') AS columns,
      count() AS same,
      max(receive_time) AS received,
      sum(length(strings) + length(ints) + length(doubles) + length(bools) + length(times))
        OVER (PARTITION BY project_id ORDER BY count() DESC ROWS UNBOUNDED PRECEDING) AS heaped,
      sum(length(strings) + length(ints) + length(doubles) + length(bools) + length(times))
        OVER (ORDER BY count() DESC ROWS UNBOUNDED PRECEDING) AS heaped_of_all
    FROM events
    GROUP BY project_id, of_kind, strings, ints, doubles, bools, times, columns
  )
  ARRAY JOIN if(heaped > 50000 OR heaped_of_all > 500000, [('event', ''), ('cut', '')], arrayConcat(
    [('event', '')],
    arrayMap(key -> ('string', key), strings),
    arrayMap(key -> ('int', key), ints),
    arrayMap(key -> ('double', key), doubles),
    arrayMap(key -> ('bool', key), bools),
    arrayMap(key -> ('time', key), times),
    arrayMap(bit -> ('column', [
        '$browser', '$browserVersion', '$os', '$osVersion', '$device', '$deviceType', '$country', '$region', '$city',
        '$continent', '$timezone', '$hostname', '$pathname', '$url', '$referrer', '$referrerDomain', '$channel',
        '$utmSource', '$utmMedium', '$utmCampaign', '$utmTerm', '$utmContent'
      ][bit + 1]), bitPositionsToArray(columns)))) AS named
  GROUP BY project_id, of_kind, named
)
GROUP BY project_id, kind, property, type;

CREATE MATERIALIZED VIEW IF NOT EXISTS project_changes_view TO project_changes AS
SELECT project_id, max(version) AS newest_version, count() AS changes FROM profiles GROUP BY project_id;
