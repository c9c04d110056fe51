-- The AI assistant that sent a visitor, as a sixth value of `campaign`: a merge costs by the column, and few events have
-- one. Texts from before have five values: the byte that is added ends the fifth, so that their sixth is empty.
ALTER TABLE events
  MODIFY COLUMN utm_content LowCardinality(String)
    ALIAS substringIndex(substringIndex(campaign, char(255), 5), char(255), -1),
  ADD COLUMN IF NOT EXISTS ai_assistant LowCardinality(String)
    ALIAS substringIndex(substringIndex(concat(campaign, char(255)), char(255), 6), char(255), -1) AFTER utm_content;

-- The same view as before, with the name of the new column.
ALTER TABLE property_keys_view MODIFY QUERY
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
        utm_campaign != '', utm_term != '', utm_content != '', ai_assistant != '', 1) AS columns,
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
        ('column', '$utmTerm'), ('column', '$utmContent'), ('column', '$aiAssistant'), ('event', '')
      ], range(1, 25)),
    heaped > 50000 OR heaped_of_all > 500000, [('cut', '')],
    arrayConcat(
      arrayMap(key -> ('string', key), strings),
      arrayMap(key -> ('int', key), ints),
      arrayMap(key -> ('double', key), doubles),
      arrayMap(key -> ('bool', key), bools),
      arrayMap(key -> ('time', key), times))) AS named
  GROUP BY project_id, of_kind, named
);
