-- A merge holds three granules of each of its parts, 12 MB with events of usual size, and for a wide part two buffers
-- of `max_compress_block_size` for each of eighty files: so much of it was 540 MB with thirty parts, and is 230 with
-- sixteen. Smaller blocks had saved nothing, because granules are read whole. Where sixteen parts are at most merged, a
-- base below it lets one that was merged before come again with fifteen new ones: that rewrote a row 1.6 times, at this
-- base it is once.
ALTER TABLE events MODIFY SETTING max_compress_block_size = 131072, max_parts_to_merge_at_once = 16,
  merge_max_block_size = 8192, merge_selector_base = 15;
