// Makes the words of a mail server fit for a log and for the person who set it up. Who may read them at all is
// smtp.ts's.

const maxCharacters = 200;

/** One short line of plain characters. Servers like to repeat the receiver's address: it is left out. */
export function serverWords(text: string): string {
  const line = text.slice(0, maxCharacters).replace(/[^\x20-\x7e]+/g, ' ');
  return line.replace(/[^\s<>"']+@[^\s<>"']+/g, '...');
}
