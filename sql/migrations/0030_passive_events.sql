-- How many of a session's events nobody did on purpose: they do not end a bounce (query/insights/visits/visit.ts). Days
-- that have such events get a row more, whose other sums are 0.
ALTER TABLE visits ADD COLUMN IF NOT EXISTS passive SimpleAggregateFunction(sum, UInt64) AFTER views;

ALTER TABLE visits_view MODIFY QUERY
SELECT
  project_id,
  toDate(occur_time) AS day,
  session_id,
  max(cookieless) AS cookieless,
  min(occur_time) AS first_time,
  max(occur_time) AS last_time,
  count() AS events,
  countIf(kind = 'page_view') AS views,
  countIf(kind IN ('page_leave', 'scroll', 'error_occurred', 'web_vitals')) AS passive,
  max(if(bitAnd(visit_marks, 2) = 0,
    concat(reverse(reinterpretAsFixedString(toUnixTimestamp64Milli(occur_time))), UUIDToNum(event_id), kind, char(255), pathname),
    '')) AS exit
FROM events
GROUP BY project_id, day, session_id;

INSERT INTO visits (project_id, day, session_id, cookieless, first_time, last_time, events, views, passive, exit)
SELECT
  project_id,
  toDate(occur_time) AS day,
  session_id,
  max(cookieless) AS is_cookieless,
  min(occur_time) AS first_time,
  max(occur_time) AS last_time,
  toUInt64(0) AS no_events,
  toUInt64(0) AS no_views,
  count() AS passive,
  '' AS no_exit
FROM events
WHERE toDate(occur_time) = '{day}' AND kind IN ('page_leave', 'scroll', 'error_occurred', 'web_vitals')
  AND (SELECT count() FROM schema_migrations WHERE name = '0030_passive_events.sql') = 0
GROUP BY project_id, day, session_id
ORDER BY ALL
SETTINGS insert_deduplication_token = '0030_passive_events {day}', max_block_size = 65536,
  min_insert_block_size_rows = 65536, min_insert_block_size_bytes = 0;
