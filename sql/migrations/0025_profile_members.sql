-- How many ids are merged into a profile, which bounds them. A profile of before counts those that come from now on.
ALTER TABLE profiles ADD COLUMN IF NOT EXISTS members UInt32;
