// Makes a mail of its words: as plain text and as HTML that say the same. A mail loads nothing from the net, so that
// nobody learns that it was opened.

import type { Mail } from '../mail.ts';

export type MailContent = Omit<Mail, 'to'>;

/** The button comes after the first paragraph. Lines of a paragraph stay lines. */
export function composeMail(content: {
  subject: string;
  paragraphs: readonly string[];
  button?: { label: string; link: string };
}): MailContent {
  const { subject, paragraphs, button } = content;
  const lines = [...paragraphs];
  const blocks = paragraphs.map(
    (text) => `<p>${text.split('\n').map(escapeHtml).join('<br>')}</p>`,
  );
  if (button !== undefined) {
    lines.splice(1, 0, button.link);
    const link = escapeHtml(button.link);
    blocks.splice(1, 0, `<p><a href="${link}">${escapeHtml(button.label)}</a></p><p>${link}</p>`);
  }
  return {
    subject,
    text: `${lines.join('\n\n')}\n`,
    html: `<!doctype html><html lang="en"><body>${blocks.join('')}</body></html>\n`,
  };
}

/** Of a text or of an attribute's value. */
export function escapeHtml(text: string): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
