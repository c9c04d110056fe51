-- Partitions of years in place of months, and one for all before 2024: an insert makes a part for each partition that it
-- has rows for, in each of these tables, so that a batch with an event in each of 300 months cost eight times one of a
-- single month. A constant year, because a partition cannot depend on the clock. remake-table.ts says what REMAKE does.
REMAKE TABLE events PARTITION BY if(toYear(occur_time) < 2024, 0, toYear(occur_time));
REMAKE TABLE profile_days PARTITION BY if(toYear(day) < 2024, 0, toYear(day));
REMAKE TABLE visits PARTITION BY if(toYear(day) < 2024, 0, toYear(day));
REMAKE TABLE visit_entries PARTITION BY if(toYear(day) < 2024, 0, toYear(day));
