import { expect, it } from 'vitest';
import { mailboxText, readMailbox } from './mailbox.ts';

it.each([
  ['a@b.c', '', 'a@b.c'],
  [' Shop <a@b.c> ', 'Shop', 'a@b.c'],
  ['<a@b.c>', '', 'a@b.c'],
  ['"Shop, Inc: a@b" <a@b.c>', 'Shop, Inc: a@b', 'a@b.c'],
  ['Größe (EU) <größe@müller.example>', 'Größe (EU)', 'größe@müller.example'],
])('reads %s', (text, name, address) => {
  const mailbox = readMailbox(text);
  expect(mailbox).toEqual({ name, address });
  expect(readMailbox(mailboxText({ name, address }))).toEqual(mailbox);
});

it.each([
  [''],
  ['nobody'],
  ['a@b.c, d@e.f'],
  ['a@b.c d@e.f'],
  ['a@b.c, Shop <d@e.f>'],
  ['Shop, d@e.f <a@b.c>'],
  ['<a@b.c> <d@e.f>'],
  ['Shop <a@b.c>, Other <d@e.f>'],
  ['"Shop" <a@b.c>, "Other" <d@e.f>'],
  ['"a" b@c.d, "e" <f@g.h>'],
  ['Group: a@b.c, d@e.f;'],
  ['Shop <a@b.c'],
  ['Shop a@b.c>'],
  ['Shop <a@b.c> later'],
  ['Shop <a@b@c>'],
  ['Shop <a@b.c>\r\nBcc: d@e.f'],
  ['Shop\r\nBcc: d@e.f <a@b.c>'],
  ['Shop\u2028Bcc: d@e.f <a@b.c>'],
  ['Shop\0 <a@b.c>'],
  ['"a\\" <d@e.f>, \\"" <a@b.c>'],
  [`${'x'.repeat(700)} <a@b.c>`],
  [`${' '.repeat(700)}<a@b.c>`],
])('does not take %j for one mailbox', (text) => {
  expect(readMailbox(text)).toBeUndefined();
});
