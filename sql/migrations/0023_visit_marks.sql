-- The views of visits wrote a row for each event, with all of its texts, only for the engine to drop six of seven: sorting
-- them was the most that an insert cost. The pipeline marks the rows that are surely not the first (1) or the last (2) of
-- their session and UTC day in the batch, and the views pass over those. 0 marks nothing: such rows, as from before and
-- by hand, are written as they were.
ALTER TABLE events ADD COLUMN IF NOT EXISTS visit_marks UInt8 AFTER session_derived;

ALTER TABLE visit_entries_view MODIFY QUERY
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
WHERE bitAnd(visit_marks, 1) = 0;

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
  max(if(bitAnd(visit_marks, 2) = 0,
    concat(reverse(reinterpretAsFixedString(toUnixTimestamp64Milli(occur_time))), UUIDToNum(event_id), kind, char(255), pathname),
    '')) AS exit
FROM events
GROUP BY project_id, day, session_id;
