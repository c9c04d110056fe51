-- A merge holds a block of each of its parts, thirty at most: blocks of half as many rows keep two merges at once in half
-- the memory, at two hundredths more of their CPU.
ALTER TABLE events MODIFY SETTING merge_max_block_size = 4096;
