// Names as strangers type them, in the mails that they make us send.

import { expect, it } from 'vitest';
import { invitationMail, testMail } from '../../../control/mail/mail-texts.ts';
import { nameInMail } from './name-in-mail.ts';

it.each([
  ['Ada Lovelace', 'Ada Lovelace'],
  ['J. R. Smith, Ltd.', 'J. R. Smith, Ltd.'],
  ["O'Neill & Søns (EU)", "O'Neill & Søns (EU)"],
  ['मिलरेस 株式会社', 'मिलरेस 株式会社'],
  ['Studio 2026', 'Studio 2026'],
  ['Jean-Luc', 'Jean-Luc'],
])('%s stays', (name, wanted) => {
  expect(nameInMail(name, 'Somebody')).toBe(wanted);
});

const linked = [
  'Win at evil.example now',
  'https://evil.example/x?y=1',
  'hxxp://evil.example',
  'www.evil.example',
  'mail eve@evil.example',
  'mailto:eve@evil.example',
  'evil。example',
  'evil．example',
  'evil｡example',
  'evil․example',
  'evil.\u200bexample',
  'evil.\u2060example',
  'evil\u00ad.example',
  'evil..example',
  'evil.@example',
  'evil.-example',
  'evil./example',
  '<a href="//evil.example">x</a>',
  '[x](//evil.example)',
  '//evil.example',
  '\\\\evil.example',
  'javascript:x',
  'call +1 (800) 555-0199',
  'call 1.800.555.0199',
  'call ٠٨٠٠٥٥٥٠١٩٩',
  '\u202egro.live',
  'a\r\nBcc: eve@evil.example',
  'a\u2028Bcc: b',
  '#evil @evil',
  '1.2.3.4',
  '0x7f.1',
];

it.each(linked)('%j gives nothing to click', (name) => {
  const shown = nameInMail(name, 'Somebody');
  expect(shown).not.toMatch(/\.[^ ]|[:/\\@#<>[\]\p{C}\u2028\u2029]/u);
  expect(shown).not.toMatch(/(\p{Nd}[^\p{L}]*){6}/u);
});

it.each(linked)('the mails with %j hold the one link, and one line of subject', (name) => {
  const link = 'https://app.example.com/invitation?token=x';
  const mail = invitationMail({ link, organization: name, inviter: name, days: 7 });
  const test = testMail({ organization: name });
  for (const text of [mail.subject, test.subject, mail.text, mail.html, test.text, test.html]) {
    const rest = text.replaceAll(link, '').replaceAll(/<\/?[a-z]+( lang="en"| href="")?>/g, ' ');
    expect(rest).not.toMatch(/[^ ]\.[^ \n<]|:\/\/|@|[#:] *evil|gro\.live/);
  }
  expect(mail.subject + test.subject).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
});

it('a name is too short for a message, and never empty', () => {
  expect([...nameInMail('𝒜'.repeat(10_000), 'Somebody')]).toHaveLength(60);
  expect(nameInMail('x'.repeat(5_000_000), 'Somebody')).toHaveLength(60);
  expect(
    nameInMail('Your account is locked. Call us now to have it opened again, or lose it all', ''),
  ).toHaveLength(60);
  for (const nothing of ['', ' ', '://', '...', '\u202e', '-- --', '🎉']) {
    expect(nameInMail(nothing, 'Somebody')).toBe('Somebody');
  }
});
