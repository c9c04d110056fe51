-- Which of a profile's traits a merge brought, and the id that had them: taking the merge back takes them back.
ALTER TABLE profiles ADD COLUMN IF NOT EXISTS inherited Map(LowCardinality(String), String) CODEC(ZSTD(1));
