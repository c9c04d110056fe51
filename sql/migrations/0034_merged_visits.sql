-- 0030_passive_events.sql gave each day of a session that has such events a second row. Parts of its size are never merged
-- with the large ones of past years, and questions about visits would take three times as long for good. Some 1.4 million
-- rows a second.
OPTIMIZE TABLE visits FINAL SETTINGS optimize_skip_merged_partitions = 1;
