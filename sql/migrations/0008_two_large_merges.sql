-- Each merge of events of usual size holds 180 to 230 MB. Where three may run at once, as in the embedded engine, the third
-- is let in only up to 3.5 MB, so that it is one of fresh parts or of a small table, which then do not wait for minutes;
-- where dozens may, these say next to nothing. ClickHouse refuses them where fewer than three may run.
ALTER TABLE events MODIFY SETTING number_of_free_entries_in_pool_to_lower_max_size_of_merge = 3,
  max_bytes_to_merge_at_min_space_in_pool = 16384;
