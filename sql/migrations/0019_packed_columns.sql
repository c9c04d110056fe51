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
