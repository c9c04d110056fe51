import { verify as verifyWithOctokit } from '@octokit/webhooks-methods';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { describe, expect, it } from 'vitest';
import { bodySignature, signatureHeaders } from './signature.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const otherSecret = 'whsec_plJ3nmyCDGBKInavdOK15jsl';
const deliveryId = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
const plain = '{"test": 2432232314}';
/** The second value is an escape in the bytes, the first one is not: whoever parses and prints again breaks it. */
const unicode = '{"name":"Zoë – 日本 😀","u":"\\u00e9"}';

const utf8 = (text: string): Buffer => Buffer.from(text);

describe('published vectors of the body signature', () => {
  it.each([
    // GitHub's documentation; RFC 4231 case 2; ours, whose key is the text of the secret.
    [
      "It's a Secret to Everybody",
      'Hello, World!',
      '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    ],
    [
      'Jefe',
      'what do ya want for nothing?',
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    ],
    [secret, plain, '80ec8a89ce3cd22133a1066caecb4d04fea7467657c8514d717ec42c38a5c94c'],
    [secret, unicode, '82550365d25dbf6340ad65b2ecefc588defe046975f61aaba6d614f6ffb56250'],
  ])('%s', (key, body, expected) => {
    expect(bodySignature(key, utf8(body))).toBe(`sha256=${expected}`);
  });

  it('the key is not what the secret decodes to', () => {
    expect(bodySignature(secret, utf8(plain))).not.toBe(
      'sha256=e2cb4f5251572539d458bfb8a7adb533b08801e6a794467e06f771debbb0818b',
    );
  });
});

describe('published vectors of the standard signature', () => {
  it.each([
    [secret, deliveryId, 1_614_265_330, plain, 'g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='],
    [secret, deliveryId, 1_614_265_330, unicode, '3zUMSFEMCqmSOU9G6t/umVwvnx9m8M0wl5OBU8DSLHU='],
    [
      otherSecret,
      'msg_loFOjxBNrRLzqYUf',
      1_731_705_121,
      '{"event_type":"ping","data":{"success":true}}',
      'rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
    ],
  ])('%s %s at %i', (key, id, timestampS, body, expected) => {
    const headers = signatureHeaders({
      ...{ secret: key, deliveryId: id, payload: utf8(body), timestampS },
    });
    expect(headers).toEqual({
      'X-Service-Signature': bodySignature(key, utf8(body)),
      'webhook-id': id,
      'webhook-timestamp': String(timestampS),
      'webhook-signature': `v1,${expected}`,
    });
  });
});

describe('outside code accepts', () => {
  const bodies = {
    plain,
    unicode,
    'empty texts, lists and objects': '{"data":{"roomId":"","list":[],"empty":{}}}',
    'an empty object': '{}',
    'spaces and a last line': '{ "a" : 1 }\n',
    'a long body': `{"a":"${'é'.repeat(120_000)}"}`,
  };

  it.each(Object.entries(bodies))('%s', async (_name, text) => {
    const payload = utf8(text);
    const headers = signatureHeaders({ secret, deliveryId, payload, timestampS: nowS() });
    expect(await verifyWithOctokit(secret, text, headers['X-Service-Signature'] ?? '')).toBe(true);
    const parsed: unknown = JSON.parse(text);
    expect(new StandardWebhook(secret).verify(payload, headers)).toEqual(parsed);
    expect(new SvixWebhook(secret).verify(payload, headers)).toEqual(parsed);
  });

  it('a secret whose base64 has padding, plus and slash, as 32 random bytes may have', () => {
    const key = `whsec_${Buffer.alloc(32, 0xfb).toString('base64')}`;
    expect(key).toContain('+');
    expect(key).toMatch(/=$/);
    const headers = signatureHeaders({
      ...{ secret: key, deliveryId, payload: utf8(plain), timestampS: nowS() },
    });
    expect(() => new StandardWebhook(key).verify(plain, headers)).not.toThrow();
  });
});

describe('outside code refuses', () => {
  const verifiers = [
    (key: string, body: Buffer, headers: Record<string, string>) =>
      new StandardWebhook(key).verify(body, headers),
    (key: string, body: Buffer, headers: Record<string, string>) =>
      new SvixWebhook(key).verify(body, headers),
  ];

  it.each([
    ['another body', {}, secret, '{"test": 2432232315}'],
    ['another secret', {}, otherSecret, plain],
    ['another id', { 'webhook-id': 'msg_2' }, secret, plain],
    ['another time', { 'webhook-timestamp': String(nowS() + 60) }, secret, plain],
  ])('%s', (_name, changes, key, body) => {
    const headers = {
      ...signatureHeaders({ secret, deliveryId, payload: utf8(plain), timestampS: nowS() }),
      ...changes,
    };
    for (const verifier of verifiers) {
      expect(() => verifier(key, utf8(body), headers)).toThrow(/signature/i);
    }
  });

  it('an attempt that is sent again after six minutes', () => {
    const headers = signatureHeaders({
      ...{ secret, deliveryId, payload: utf8(plain), timestampS: nowS() - 360 },
    });
    for (const verifier of verifiers) {
      expect(() => verifier(secret, utf8(plain), headers)).toThrow(/too old/);
    }
  });
});

it.each(['', 'whsec_', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])(
  'a secret of another form: %j',
  (key) => {
    expect(() =>
      signatureHeaders({ secret: key, deliveryId, payload: utf8(plain), timestampS: 1 }),
    ).toThrow('the webhook secret is not of the form whsec_<base64>');
  },
);

/** The libraries read the machine's clock. */
function nowS(): number {
  return Math.floor(Date.now() / 1_000);
}
