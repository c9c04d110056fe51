// Properties that a sender cannot set: the pipeline does not store a sent value, and a live view does not show it.

/** What the server alone says, whoever sends it. */
export const serverOnlyProperties = ['$ip', '$bot_score', '$verified_bot'] as const;

/** What is derived for public keys, and for them alone. */
export const derivedOnlyProperties = [
  ...(['$country', '$region', '$city', '$continent', '$latitude', '$longitude'] as const),
  ...(['$referrerDomain', '$channel', '$aiAssistant', '$bot'] as const),
] as const;
