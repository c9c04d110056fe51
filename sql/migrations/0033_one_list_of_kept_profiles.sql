-- kept_profile_days answers its questions, too.
DROP TABLE IF EXISTS kept_active_profiles;
