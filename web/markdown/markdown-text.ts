// What a text of Markdown says, apart from how it is drawn: its blocks, and where its links may lead.

export type Block =
  | { kind: 'heading'; level: number; text: string }
  | { kind: 'list'; isOrdered: boolean; items: string[] }
  | { kind: 'code'; text: string }
  | { kind: 'quote'; text: string }
  | { kind: 'rule' }
  | { kind: 'text'; text: string };

const listItem = /^\s{0,3}(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;
const heading = /^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const fence = /^\s{0,3}```/;
const rule = /^\s{0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/;
const quote = /^\s{0,3}>\s?(.*)$/;

/** Headings, lists, quotes, code, rules; everything else is text. A fence that never ends holds the rest. */
export function readBlocks(source: string): Block[] {
  const blocks: Block[] = [];
  const lines = source.replaceAll('\r\n', '\n').split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const last = blocks.at(-1);
    const [, hashes, title = ''] = heading.exec(line) ?? [];
    const item = listItem.exec(line);
    const quoted = quote.exec(line);
    if (fence.test(line)) {
      const end = lines.findIndex((one, index) => index > at && fence.test(one));
      const stop = end < 0 ? lines.length : end;
      blocks.push({ kind: 'code', text: lines.slice(at + 1, stop).join('\n') });
      at = stop;
    } else if (line.trim() === '') blocks.push({ kind: 'text', text: '' });
    else if (hashes) blocks.push({ kind: 'heading', level: hashes.length, text: title });
    else if (rule.test(line)) blocks.push({ kind: 'rule' });
    else if (item) {
      const isOrdered = item[1] !== undefined;
      const text = item[2] ?? '';
      if (last?.kind === 'list' && last.isOrdered === isOrdered) last.items.push(text);
      else blocks.push({ kind: 'list', isOrdered, items: [text] });
    } else if (quoted) blocks.push({ kind: 'quote', text: quoted[1] ?? '' });
    else if (last?.kind === 'text' && last.text !== '') last.text += `\n${line}`;
    else blocks.push({ kind: 'text', text: line });
  }
  return blocks.filter((block) => block.kind !== 'text' || block.text !== '');
}

/** undefined for a scheme that could run something, and for what is no address. */
export function safeHref(text: string): string | undefined {
  if (/^\/(?![/\\])/.test(text) || text.startsWith('#')) return text;
  try {
    const { protocol, href } = new URL(text);
    return ['https:', 'http:', 'mailto:'].includes(protocol) ? href : undefined;
  } catch {
    return undefined;
  }
}
