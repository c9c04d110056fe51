-- Whether a project has ever deleted a profile: where it has not, questions about persons need not look for deleted ones.
-- A row that is counted twice, or again when this file is, tells the same.
ALTER TABLE project_changes ADD COLUMN IF NOT EXISTS deletions SimpleAggregateFunction(sum, UInt64);

ALTER TABLE project_changes_view MODIFY QUERY
SELECT project_id, max(version) AS newest_version, count() AS changes, countIf(deleted) AS deletions
FROM profiles
GROUP BY project_id;

-- After the view: what comes meanwhile is counted by it.
INSERT INTO project_changes (project_id, newest_version, changes, deletions)
SELECT project_id, 0, 0, count() FROM profiles WHERE deleted GROUP BY project_id;
