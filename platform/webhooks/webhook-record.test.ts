// The form in which endpoints' URLs are kept, and records of earlier versions, which kept what was written.

import { describe, expect, it } from 'vitest';
import { webhookRecord } from '../../test/harness/models/webhook-records.ts';
import { readOrganizationWebhooks, sentUrl } from './webhook-record.ts';

describe('a URL is kept as it is sent to', () => {
  it.each([
    ['https://example.com', 'https://example.com/'],
    ['HTTPS://Example.COM:443/Hook', 'https://example.com/Hook'],
    ['https://example.com:8443/', 'https://example.com:8443/'],
    ['http://example.com:80/', 'http://example.com/'],
    ['https:example.com/hook', 'https://example.com/hook'],
    ['https:\\\\example.com\\hook', 'https://example.com/hook'],
    ['https:////example.com/hook', 'https://example.com/hook'],
    ['https://example.com/a/../b/./c', 'https://example.com/b/c'],
    ['https://example.com/a/%2e%2e/b', 'https://example.com/b'],
    ['https://exa\u{200B}mple.com/', 'https://example.com/'],
    ['https://%65xample.com/', 'https://example.com/'],
    ['https://ｅｘａｍｐｌｅ．ｃｏｍ/', 'https://example.com/'],
    ['https://example。com/', 'https://example.com/'],
    ['https://example.com./', 'https://example.com./'],
    ['https://münchen.example/', 'https://xn--mnchen-3ya.example/'],
    ['https://example.com/zoë?ö=ß', 'https://example.com/zo%C3%AB?%C3%B6=%C3%9F'],
    ['https://example.com/?a=1#b', 'https://example.com/?a=1'],
    ['https://example.com/#', 'https://example.com/'],
    ['https://example.com/?', 'https://example.com/?'],
    ['https://exam\tple.com/ho\nok', 'https://example.com/hook'],
    ['  https://example.com/  ', 'https://example.com/'],
    ['https://2130706433/', 'https://127.0.0.1/'],
    ['https://[2606:4700:0:0::1111]/', 'https://[2606:4700::1111]/'],
    ['https://user:pass@example.com/', 'https://user:pass@example.com/'],
    ['no URL', 'no URL'],
  ])('%j as %s', (text, kept) => {
    expect(sentUrl(text)).toBe(kept);
    expect(sentUrl(kept)).toBe(kept);
  });
});

it('an earlier version’s record is read with its URLs in that form, and else as it is', () => {
  const organization = (...urls: string[]) => ({
    schemaVersion: 1,
    sealedCurrentSecret: 'sealed',
    later: 'unknown to this version',
    webhooks: urls.map((endpointUrl) => ({ ...webhookRecord({ id: 'a' }), endpointUrl, later: 1 })),
  });
  const stored = organization('HTTPS://Example.com:443', 'https://example.com/hook', 'damaged');
  expect(readOrganizationWebhooks(stored)).toEqual(
    organization('https://example.com/', 'https://example.com/hook', 'damaged'),
  );
});

describe('a subscription to the events of a project is read', () => {
  const read = (subscription: object) =>
    readOrganizationWebhooks({
      schemaVersion: 1,
      sealedCurrentSecret: 'sealed',
      webhooks: [{ ...webhookRecord(), subscriptions: [subscription] }],
    })?.webhooks[0]?.subscriptions[0];
  const project = { subjectType: 'PROJECT', subjectId: 'p', eventType: 'event' };
  const property = { property: 'amount', operator: 'FILTER_OPERATOR_GT', value: '1' };

  it('with and without kinds and properties', () => {
    const values = { property: 'plan', operator: 'FILTER_OPERATOR_IN', values: ['a'] };
    const filter = { kinds: ['purchase'], properties: [property, values] };
    expect(read(project)).toEqual(project);
    expect(read({ ...project, ...filter })).toEqual({ ...project, ...filter });
  });

  it.each([
    { ...project, eventType: 'message_sent' },
    { ...project, subjectType: 'ROOM' },
    { ...project, kinds: 'purchase' },
    { ...project, kinds: [1] },
    { ...project, properties: [{ property: 'amount' }] },
    { ...project, properties: [{ ...property, value: 1 }] },
    { ...project, properties: [{ ...property, values: [1] }] },
  ])('but not as %j', (subscription) => {
    expect(read(subscription)).toBeUndefined();
  });
});
