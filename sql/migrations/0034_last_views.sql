-- The exit page of a visit is its last page view, whatever was clicked after it: `last_view` is in the place of the text of
-- the last event. Of rows without the mark 4 of the pipeline, which says that the session has a later page view in the
-- batch. 24 bytes of moment and id, '=' and the page; '' where the session had no page view.
ALTER TABLE visits ADD COLUMN IF NOT EXISTS last_view SimpleAggregateFunction(max, String) AFTER passive;

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
  max(if(kind = 'page_view' AND bitAnd(visit_marks, 4) = 0,
    concat(reverse(reinterpretAsFixedString(toUnixTimestamp64Milli(occur_time))), UUIDToNum(event_id), '=', pathname),
    '')) AS last_view
FROM events
GROUP BY project_id, day, session_id;

-- Rows whose sums are 0 and that may be written again.
INSERT INTO visits (project_id, day, session_id, cookieless, first_time, last_time, events, views, passive, last_view)
SELECT
  project_id,
  toDate(occur_time) AS day,
  session_id,
  max(cookieless) AS is_cookieless,
  min(occur_time) AS first_time,
  max(occur_time) AS last_time,
  toUInt64(0) AS no_events,
  toUInt64(0) AS no_views,
  toUInt64(0) AS no_passive,
  max(concat(reverse(reinterpretAsFixedString(toUnixTimestamp64Milli(occur_time))), UUIDToNum(event_id), '=', pathname)) AS last_view
FROM events
WHERE toDate(occur_time) = '{day}' AND kind = 'page_view'
GROUP BY project_id, day, session_id
ORDER BY ALL
SETTINGS max_block_size = 65536, min_insert_block_size_rows = 65536, min_insert_block_size_bytes = 0;

ALTER TABLE visits DROP COLUMN IF EXISTS exit;

-- These rows, and those of 0030_passive_events.sql, would stay beside the visits' own, because small parts are never merged
-- with the large ones of past years, and questions about visits would take three times as long for good. Some 1.4 million
-- rows a second.
OPTIMIZE TABLE visits FINAL SETTINGS optimize_skip_merged_partitions = 1;
