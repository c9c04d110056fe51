-- A day may be kept anew while a question reads what was kept before: rows of another version are other rows, and no
-- merge drops them. `edition` is the version again, because only a new column can join the order key.
ALTER TABLE kept_cells
  ADD COLUMN IF NOT EXISTS edition UInt64,
  MODIFY ORDER BY (project_id, series, day, moment_ms, groups, edition);
