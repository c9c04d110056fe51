-- Days of a time zone, and who was active on them, answer every question about users of some events of past days, so that
-- days of quarters of an hour are kept of all events only (profile_days). Rows of before have no cookieless visitors:
-- their series are not asked for any more (query/insights/sources/day-cells.ts).
ALTER TABLE kept_active_profiles ADD COLUMN IF NOT EXISTS cookieless Bool AFTER profile_key;
DROP TABLE IF EXISTS kept_profile_days;
