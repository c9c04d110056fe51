-- The root that an id had before this row, where that is another: one at most, as what changes within a batch was stored
-- nowhere.
ALTER TABLE profiles ADD COLUMN IF NOT EXISTS former_root String;

-- The merged ids in the order of their roots, so that who is merged into a few is found by a look at those few. An id
-- whose root changes has a row that is not `live` at the one it had.
CREATE TABLE IF NOT EXISTS profiles_by_root (
  project_id LowCardinality(String),
  root_id FixedString(16),
  profile_id FixedString(16),
  live Bool,
  version UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project_id, root_id, profile_id)
SETTINGS index_granularity = 512, merge_selector_base = 3, fsync_after_insert = 1, fsync_part_directory = 1,
  min_bytes_for_wide_part = 1099511627776;

CREATE MATERIALIZED VIEW IF NOT EXISTS profiles_by_root_view TO profiles_by_root AS
SELECT
  project_id,
  millraceProfileHash(project_id, member_of) AS root_id,
  profile_id,
  member_of = root AS live,
  version
FROM profiles
ARRAY JOIN [root, former_root] AS member_of
WHERE edge AND member_of != '';

-- After the view: what comes meanwhile has a greater version. A writer that does not name former_root must not go on
-- beside this: what it moves would stay listed where it was. FINAL: where an older row has another root, it is not to be
-- listed there. Edges have no traits, so that a granule of each part takes little memory.
INSERT INTO profiles_by_root
SELECT project_id, root_id, profile_id, true, version FROM profiles FINAL WHERE edge AND root != '';
