-- Merges rewrite each row again and again, and cost more than its insert: fewer of them, of more parts each, and never
-- column by column, which takes two to three times the CPU on a table of so many narrow columns. In exchange a merge
-- has a block of every part in memory at once, so their number is bounded.
ALTER TABLE events MODIFY SETTING
  merge_selector_base = 12, enable_vertical_merge_algorithm = 0, max_parts_to_merge_at_once = 30;
