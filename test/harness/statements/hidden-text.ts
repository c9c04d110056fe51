// Changes a statement's text so that whoever reads it otherwise than the engine does would miss a part of it.

import type { Draw } from '../insights/random.ts';

const blanks = [
  ' ',
  '\n',
  '\t',
  '/* x */',
  ' /* /* n */ */ ',
  '-- c\n',
  '\u00a0',
  '\u200b',
  '\u2028',
];
const tricks = [
  "'",
  '"',
  '`',
  '“',
  '”',
  '‘',
  '’',
  '\\',
  ';',
  '$$',
  '$x$',
  '--',
  '/*',
  '*/',
  '(',
  ')',
  '{a:Identifier}',
  '\n',
  '\r',
  '\u0085',
  ' SETTINGS ',
  ' FORMAT ',
  ' UNION ALL ',
  ' INTO OUTFILE ',
  ' AS ',
  '.',
  ',',
  '@@',
  '#!',
  '::',
];

/** Other blanks, another case, or pieces that end or open something. */
export function hiddenText(draw: Draw, sql: string): string {
  let text = sql;
  for (let times = 1 + draw.below(3); times > 0; times--) {
    const at = draw.below(text.length + 1);
    text = draw.pick([
      () => text.replace(/ /g, () => (draw.below(4) === 0 ? draw.pick(blanks) : ' ')),
      () => text.slice(0, at) + draw.pick(tricks) + text.slice(at),
      () => text.slice(0, at) + text.slice(at + 1 + draw.below(4)),
      () => text.replace(/[a-z]+/i, (word) => word.toUpperCase()),
      () => text.replace(/\b(file|system|merge|settings)\b/i, (word) => `\`${word}\``),
    ])();
  }
  return text;
}
