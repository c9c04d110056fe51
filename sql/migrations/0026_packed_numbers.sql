-- 64 numbers of a column that are near each other are stored with the bits in which they differ. Both columns stand in
-- no order, so that LZ4 alone finds little in them: an event takes 3.3 bytes of 87 less, and no more CPU. occur_time
-- would take 1.7 less, but nearly every question reads it. Parts of before are stored so when they are merged.
ALTER TABLE events
  MODIFY COLUMN stream_seq UInt64 CODEC(T64, Default),
  MODIFY COLUMN receive_time DateTime64(3, 'UTC') CODEC(T64, Default);
