// plausible-tracker and @plausible-analytics/tracker: one event a request, of visitors whom address and agent tell.

import { fieldOf, isObject } from '../../../../platform/json.ts';
import {
  type CollectEndpoint,
  type Decoded,
  type Endpoint,
  type Family,
  keyIn,
  noItems,
  type SentHead,
  usualAnswers,
} from '../../endpoint.ts';
import { EventDraft } from '../../mapping/event-draft.ts';
import { objectIn, textOf } from '../../mapping/sent-values.ts';

function decode(_head: SentHead, json: unknown): Decoded {
  const decoded = noItems();
  const name = textOf(fieldOf(json, 'n') ?? fieldOf(json, 'name'));
  if (!isObject(json) || name === undefined) {
    decoded.unreadable++;
    return decoded;
  }
  const draft = new EventDraft(name);
  const { properties } = draft;
  if (name === 'engagement') {
    draft.kind = 'page_leave';
    properties.put('engaged_ms', json['e']);
    properties.put('scroll', json['sd']);
  }
  properties.putText('$url', json['u'] ?? json['url']);
  properties.putText('$referrer', json['r'] ?? json['referrer']);
  const revenue = objectIn(json['$']);
  if (revenue !== undefined) {
    const sent = revenue['amount'];
    const amount = typeof sent === 'string' ? Number(sent) : sent;
    properties.put('amount', Number.isNaN(amount) ? sent : amount);
    properties.put('currency', revenue['currency']);
  }
  if (json['i'] === false) properties.put('interactive', false);
  // The older package sends the properties as JSON in a text.
  properties.putAll(objectIn(json['p'] ?? json['props'] ?? json['m']));
  decoded.events.push(draft);
  return decoded;
}

const collect: CollectEndpoint = {
  kind: 'collect',
  family: 'plausible',
  keyOf: (_head, json) => keyIn(fieldOf(json, 'd') ?? fieldOf(json, 'domain'), 'body'),
  decode,
  answers: {
    ...usualAnswers,
    accepted: { status: 202, body: () => ({ text: 'ok', type: 'text/plain' }) },
  },
};

export const plausible: Family = { paths: new Map<string, Endpoint>([['/api/event', collect]]) };
