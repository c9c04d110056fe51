// Imported events of programs carry $bot as live ones do, whatever export told the agent.

import { expect, it } from 'vitest';
import { EventDraft } from '../../ingest/compat/mapping/event-draft.ts';
import { putDescribed } from './described.ts';

const gptBot =
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)';
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0';

const context = { projectId: 'p', family: 'f', receiveTimeMs: 0, correctsClock: false };

it.each([
  [gptBot, { boolValue: true }],
  [firefox, undefined],
])('%s', (userAgent, bot) => {
  const draft = new EventDraft('page');
  draft.id = '0f0e0d0c-0b0a-4908-8706-050403020100';
  putDescribed(draft, { url: 'https://shop.example/a', userAgent });
  const { autoProperties } = JSON.parse(draft.write(context).text);
  expect(autoProperties.$bot).toEqual(bot);
  expect(autoProperties.$pathname).toEqual({ stringValue: '/a' });
});
