-- Create_times that a profile had before this row: each deletion followed by a new Identify within one batch leaves one.
ALTER TABLE profiles ADD COLUMN IF NOT EXISTS former_create_times Array(DateTime64(3, 'UTC')) CODEC(ZSTD(1));

-- The named profiles in the order of a list, so that a page reads its own. A profile that is deleted, merged or made anew
-- has a row that is not `live` for each moment it was listed at.
CREATE TABLE IF NOT EXISTS profiles_by_creation (
  project_id LowCardinality(String),
  listed_time DateTime64(3, 'UTC'),
  profile_id FixedString(16),
  live Bool,
  distinct_id String,
  update_time DateTime64(3, 'UTC'),
  traits Map(LowCardinality(String), String),
  version UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project_id, listed_time, profile_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1,
  min_bytes_for_wide_part = 1099511627776;

CREATE MATERIALIZED VIEW IF NOT EXISTS profiles_by_creation_view TO profiles_by_creation AS
SELECT
  project_id,
  listed_time,
  profile_id,
  listed_time = create_time AND NOT deleted AND root = '' AS live,
  distinct_id,
  update_time,
  if(live, traits, CAST(map(), 'Map(LowCardinality(String), String)')) AS traits,
  version
FROM profiles
ARRAY JOIN arrayPushBack(former_create_times, create_time) AS listed_time
WHERE NOT edge AND named;

-- After the view: what comes meanwhile has a greater version. Not FINAL, which holds a granule of each part's traits at
-- once: only of the few that were made anew, older rows are not to be listed.
INSERT INTO profiles_by_creation
WITH made_anew AS (
  SELECT profile_id, argMax(create_time, version) AS newest
  FROM profiles
  WHERE NOT edge AND named
  GROUP BY profile_id
  HAVING min(create_time) != max(create_time)
)
SELECT project_id, create_time, profile_id, NOT deleted AND root = '', distinct_id, update_time, traits, version
FROM profiles
WHERE NOT edge AND named
  AND (profile_id NOT IN (SELECT profile_id FROM made_anew) OR (profile_id, create_time) IN (SELECT profile_id, newest FROM made_anew))
SETTINGS max_block_size = 512, min_insert_block_size_rows = 65536, min_insert_block_size_bytes = 33554432;
