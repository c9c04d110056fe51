// The properties that are not believed where a sender gives them: what is stored and what a live view shows leave them
// out alike.

/** What the server alone says, whoever sends it. */
export const serverOnlyProperties = ['$ip', '$bot_score', '$verified_bot'] as const;

/** What is derived for public keys, and for them alone. */
export const derivedOnlyProperties = [
  ...(['$country', '$region', '$city', '$continent', '$latitude', '$longitude'] as const),
  ...(['$referrerDomain', '$channel'] as const),
] as const;
