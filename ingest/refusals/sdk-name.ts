// The sender's program, from its user agent: enough to find the code that sends, too little to tell a person by.

/** `curl/8.5.0`, `connect-es/2.1.2`; `browser` for all browsers; empty where the agent begins with no product. */
export function sdkOf(userAgent: string | undefined): string {
  if (userAgent === undefined) return '';
  if (userAgent.startsWith('Mozilla/')) return 'browser';
  const [product = ''] =
    /^[A-Za-z][\w.-]{0,31}(?:\/\d[\w.-]{0,19})?(?=$|[\s(])/.exec(userAgent) ?? [];
  return product;
}
