-- Fifteen columns of few values in three: a merge copies row by row and column by column, so that it is the number of
-- columns that counts. A text is '' where all of its values are, else the values with a byte between them that no UTF-8
-- text holds. The old names stay, as parts of the texts: on a dictionary of few texts the engine takes them apart once
-- for many rows.
ALTER TABLE events
  ADD COLUMN IF NOT EXISTS agent LowCardinality(String) AFTER browser,
  ADD COLUMN IF NOT EXISTS place LowCardinality(String) AFTER agent,
  ADD COLUMN IF NOT EXISTS campaign LowCardinality(String) AFTER channel;

-- Rows from before. Where this runs again after the next statement, the old names are parts of the texts, and no row is
-- found. Older parts keep the old columns beside the texts until they are merged.
ALTER TABLE events UPDATE
  agent = if(browser_version = '' AND os = '' AND os_version = '' AND device = '' AND device_type = '', '',
    concat(browser_version, char(255), os, char(255), os_version, char(255), device, char(255), device_type)),
  place = if(country = '' AND region = '' AND city = '' AND continent = '' AND timezone = '', '',
    concat(country, char(255), region, char(255), city, char(255), continent, char(255), timezone)),
  campaign = if(utm_source = '' AND utm_medium = '' AND utm_campaign = '' AND utm_term = '' AND utm_content = '', '',
    concat(utm_source, char(255), utm_medium, char(255), utm_campaign, char(255), utm_term, char(255), utm_content))
WHERE agent = '' AND place = '' AND campaign = '' AND (browser_version != '' OR os != '' OR os_version != '' OR
  device != '' OR device_type != '' OR country != '' OR region != '' OR city != '' OR continent != '' OR
  timezone != '' OR utm_source != '' OR utm_medium != '' OR utm_campaign != '' OR utm_term != '' OR utm_content != '')
SETTINGS mutations_sync = 1;

ALTER TABLE events
  MODIFY COLUMN browser_version LowCardinality(String) ALIAS substringIndex(agent, char(255), 1),
  MODIFY COLUMN os LowCardinality(String) ALIAS substringIndex(substringIndex(agent, char(255), 2), char(255), -1),
  MODIFY COLUMN os_version LowCardinality(String) ALIAS substringIndex(substringIndex(agent, char(255), 3), char(255), -1),
  MODIFY COLUMN device LowCardinality(String) ALIAS substringIndex(substringIndex(agent, char(255), 4), char(255), -1),
  MODIFY COLUMN device_type LowCardinality(String) ALIAS substringIndex(agent, char(255), -1),
  MODIFY COLUMN country LowCardinality(String) ALIAS substringIndex(place, char(255), 1),
  MODIFY COLUMN region LowCardinality(String) ALIAS substringIndex(substringIndex(place, char(255), 2), char(255), -1),
  MODIFY COLUMN city LowCardinality(String) ALIAS substringIndex(substringIndex(place, char(255), 3), char(255), -1),
  MODIFY COLUMN continent LowCardinality(String) ALIAS substringIndex(substringIndex(place, char(255), 4), char(255), -1),
  MODIFY COLUMN timezone LowCardinality(String) ALIAS substringIndex(place, char(255), -1),
  MODIFY COLUMN utm_source LowCardinality(String) ALIAS substringIndex(campaign, char(255), 1),
  MODIFY COLUMN utm_medium LowCardinality(String) ALIAS substringIndex(substringIndex(campaign, char(255), 2), char(255), -1),
  MODIFY COLUMN utm_campaign LowCardinality(String) ALIAS substringIndex(substringIndex(campaign, char(255), 3), char(255), -1),
  MODIFY COLUMN utm_term LowCardinality(String) ALIAS substringIndex(substringIndex(campaign, char(255), 4), char(255), -1),
  MODIFY COLUMN utm_content LowCardinality(String) ALIAS substringIndex(campaign, char(255), -1);

-- Views are replaced, and not modified: the engine does not know a repeated insert again where it was started after a
-- view was modified.

-- The same texts of a profile, with less work: they are parts of those of the event.
CREATE OR REPLACE MATERIALIZED VIEW profile_activity_view TO profile_activity AS
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
    concat(moment, browser, gap, substringIndex(events.agent, gap, 4)),
    browser != '' OR os != '' OR device != '') AS agent,
  maxIf(concat(moment, substringIndex(events.place, gap, 3)), country != '') AS place
FROM events
WHERE NOT cookieless
GROUP BY project_id, profile_id;

-- As 0014_visit_entries.sql and 0016_cheaper_property_keys.sql modified them.
CREATE OR REPLACE MATERIALIZED VIEW visits_view TO visits AS
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

CREATE OR REPLACE MATERIALIZED VIEW property_keys_view TO property_keys AS
SELECT
  project_id,
  if(place > 2000 OR map = 'cut', '', of_kind) AS kind,
  if(place > 2000, '', name) AS property,
  if(place > 2000, 'cut', map) AS type,
  together AS events,
  latest AS last_received
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
      char(browser != '', browser_version != '', os != '', os_version != '', device != '', device_type != '',
        country != '', region != '', city != '', continent != '', timezone != '', hostname != '', pathname != '',
        url != '', referrer != '', referrer_domain != '', channel != '', utm_source != '', utm_medium != '',
        utm_campaign != '', utm_term != '', utm_content != '', 1) AS columns,
      count() AS same,
      max(receive_time) AS received,
      sum(length(strings) + length(ints) + length(doubles) + length(bools) + length(times))
        OVER (PARTITION BY project_id ORDER BY count() DESC ROWS UNBOUNDED PRECEDING) AS heaped,
      sum(length(strings) + length(ints) + length(doubles) + length(bools) + length(times))
        OVER (ORDER BY count() DESC ROWS UNBOUNDED PRECEDING) AS heaped_of_all
    FROM events
    GROUP BY GROUPING SETS (
      (project_id, of_kind, strings, ints, doubles, bools, times),
      (project_id, of_kind, columns))
  )
  ARRAY JOIN multiIf(
    columns != '', arrayFilter((named, byte) -> substring(columns, byte, 1) = char(1), [
        ('column', '$browser'), ('column', '$browserVersion'), ('column', '$os'), ('column', '$osVersion'),
        ('column', '$device'), ('column', '$deviceType'), ('column', '$country'), ('column', '$region'),
        ('column', '$city'), ('column', '$continent'), ('column', '$timezone'), ('column', '$hostname'),
        ('column', '$pathname'), ('column', '$url'), ('column', '$referrer'), ('column', '$referrerDomain'),
        ('column', '$channel'), ('column', '$utmSource'), ('column', '$utmMedium'), ('column', '$utmCampaign'),
        ('column', '$utmTerm'), ('column', '$utmContent'), ('event', '')
      ], range(1, 24)),
    heaped > 50000 OR heaped_of_all > 500000, [('cut', '')],
    arrayConcat(
      arrayMap(key -> ('string', key), strings),
      arrayMap(key -> ('int', key), ints),
      arrayMap(key -> ('double', key), doubles),
      arrayMap(key -> ('bool', key), bools),
      arrayMap(key -> ('time', key), times))) AS named
  GROUP BY project_id, of_kind, named
);
