-- A day's sums of doubles are kept exactly, so that an answer is the same whichever days of it are kept: from a place to
-- how many times 2^(128 * place - 1074) the numbers add up to (query/insights/events/exact-sum.ts).
ALTER TABLE kept_cells ADD COLUMN IF NOT EXISTS sums Map(UInt8, Int256) AFTER a;
