-- Sessions that no sender named: their writer finds the open ones again by these rows.
ALTER TABLE events ADD COLUMN IF NOT EXISTS session_derived Bool AFTER session_id;
