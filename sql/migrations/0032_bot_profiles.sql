-- Whether a profile has an event that is not a bot's: lists can leave out those that have none. Rows of identity records have
-- no event, and say nothing of it. Profiles of before are taken for people, because few of their bots were marked.
ALTER TABLE profile_activity ADD COLUMN IF NOT EXISTS person SimpleAggregateFunction(max, Bool)
  DEFAULT toBool(total_events > 0);
ALTER TABLE profile_listing ADD COLUMN IF NOT EXISTS person SimpleAggregateFunction(max, Bool) DEFAULT true;

ALTER TABLE profile_listing_view MODIFY QUERY
SELECT project_id, profile_id, first_seen, first_received, agent, place, person FROM profile_activity WHERE total_events > 0;

ALTER TABLE profile_activity_view MODIFY QUERY
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
  maxIf(concat(moment, country, gap, region, gap, city), country != '') AS place,
  max(NOT bool_properties['$bot']) AS person
FROM events
WHERE NOT cookieless
GROUP BY project_id, profile_id;
