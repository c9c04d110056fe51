-- At most two merges of events at once, each of which holds 200 to 250 MB: where three may run at all, as in the embedded
-- engine, the third has to be a small one, of a table of profiles, so that those do not wait for minutes either. Where many
-- may run, these say next to nothing.
ALTER TABLE events MODIFY SETTING number_of_free_entries_in_pool_to_lower_max_size_of_merge = 3,
  max_bytes_to_merge_at_min_space_in_pool = 16384;
