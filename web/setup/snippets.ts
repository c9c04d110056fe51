// What a reader copies: complete, with the key and the address of this very service.

export type Consent = 'cookieless' | 'granted' | 'denied';

export type Of = { origin: string; key: string };

export function htmlSnippet({ origin, key }: Of, consent: Consent): string {
  const attribute = consent === 'cookieless' ? '' : ` data-consent="${consent}"`;
  return `<script defer src="${origin}/millrace.js" data-key="${key}"${attribute}></script>`;
}

export const callsSnippet = `millrace.track('signup', { plan: 'pro', seats: 12 });
// With data-consent="granted":
millrace.identify('user-42', { plan: 'pro' });`;

export function nodeSnippet({ origin }: Of): string {
  return `import { createClient } from './sdk/node/client.ts';

const millrace = createClient({ url: '${origin}', key: 'prv_...' });
millrace.track({ kind: 'purchase', distinctId: 'user-42', properties: { amount: 19.9, currency: 'EUR', order_id: 'o-1' } });
millrace.identify({ externalId: 'user-42', traits: { plan: 'pro' } });
await millrace.close(); // at the end of the program: sends what waits`;
}

/** Linux without the package that has `uuidgen`, else macOS and the BSDs. */
const anyUuid = 'cat /proc/sys/kernel/random/uuid 2>/dev/null || uuidgen';

/** With an agent of its own: curl's is a program's, and pages leave programs out. */
export function curlSnippet({ origin, key }: Of): string {
  return `curl -s -A shop/1.0 \\
  ${origin}/sdk.events.v1.EventsService/BatchCreate \\
  -H 'content-type: application/json' \\
  -H 'x-api-key: ${key}' \\
  -d '{"events": [{
    "kind": "signup", "distinctId": "ada",
    "eventId": "'$(${anyUuid})'",
    "sessionId": "'$(${anyUuid})'",
    "occurTime": "'$(date -u +%FT%TZ)'",
    "customProperties": {
      "plan": {"stringValue": "pro"}, "seats": {"intValue": "12"}
    }
  }]}'`;
}

export function identifyCurl({ origin, key }: Of): string {
  return `curl -s \\
  ${origin}/sdk.profiles.v1.ProfilesSDKService/Identify \\
  -H 'content-type: application/json' \\
  -H 'x-api-key: ${key}' \\
  -d '{"externalId": "ada", "traits": {"plan": "pro"}}'`;
}
