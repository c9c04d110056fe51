-- When each profile was first seen, for reading everybody: profile_activity has it in granules that suit one profile. Rows
-- from before have the last possible moment, because the least counts.
ALTER TABLE profile_listing ADD COLUMN IF NOT EXISTS first_seen SimpleAggregateFunction(min, DateTime64(3, 'UTC'))
  DEFAULT toDateTime64('2299-12-31 23:59:59.999', 3, 'UTC') AFTER profile_id;

ALTER TABLE profile_listing_view MODIFY QUERY
SELECT project_id, profile_id, first_seen, first_received, agent, place FROM profile_activity WHERE total_events > 0;

-- After the view. A row that both write is harmless: each column is a least or a greatest.
INSERT INTO profile_listing (project_id, profile_id, first_seen, first_received)
SELECT project_id, profile_id, first_seen, first_received
FROM profile_activity
WHERE total_events > 0
SETTINGS max_block_size = 65536, min_insert_block_size_rows = 1048576, min_insert_block_size_bytes = 33554432;
