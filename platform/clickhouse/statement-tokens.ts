// Splits a ClickHouse statement into words with their places: enough to find clauses and parameters outside strings,
// quoted names and comments. It does not understand the grammar; the engine does. It splits exactly where ClickHouse's
// lexer splits (src/Parsers/Lexer.cpp, and the engine itself where that is older), oddities included: a quote that only
// we see would hide a statement that the engine runs. Where that lexer fails, the statement fails too, and any split
// will do.

export interface Token {
  /** A number is a word too; a name is a quoted identifier. */
  kind: 'word' | 'name' | 'text' | 'parameter' | 'symbol';
  /** Words in upper case, symbols unchanged, '' for quoted tokens and parameters. */
  value: string;
  start: number;
  end: number;
  /** The number of open brackets around the token. */
  depth: number;
}

const whitespace =
  /[\t-\r \u0085\u00a0\u180e\u2000-\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]+/y;
const lineComment = /(?:--|\/\/|#[ !])[^\n]*/y;
const bareWord = /(?:[A-Za-z_]|\$(?=\w))[\w$]*/y;
const digits = '\\d+(?:_\\d+)*';
const hexDigits = '[\\da-f]+(?:_[\\da-f]+)*';
const exponent = `[-+]?(?:${digits})?`;
// Letters right after a number belong to it: then it is a name, or wrong.
const number = new RegExp(
  `(?:0x${hexDigits}(?:\\.(?:${hexDigits})?)?(?:p${exponent})?|` +
    `(?:0b(?=[01]))?${digits}(?:\\.(?:${digits})?)?(?:e${exponent})?)\\w*`,
  'iy',
);
const fraction = new RegExp(`\\.${digits}(?:e${exponent})?`, 'iy');
// An element of a tuple: the 1 and the 2 of t.1.2.
const elementNumber = /\d\w*/y;
const parameterStart = /\{\s*[A-Za-z_]\w*\s*:/y;
const heredocTag = /\$\w*\$/y;
const curlyQuotes = new Map([
  ['‘', '’'],
  ['“', '”'],
]);

/** Splits `sql`. An unterminated string or comment becomes one token to the end: the engine reports it. */
export function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  const heredocTags = lastHeredocTags(sql);
  let depth = 0;
  for (let at = 0; at < sql.length; ) {
    const skipped = skipBlank(sql, at);
    if (skipped > at) {
      at = skipped;
      continue;
    }
    const { kind, end } = nextToken(sql, at, tokens.at(-1), heredocTags);
    const value = kind === 'word' || kind === 'symbol' ? sql.slice(at, end).toUpperCase() : '';
    if (value === ')' || value === ']' || value === '}') depth--;
    tokens.push({ kind, value, start: at, end, depth });
    if (value === '(' || value === '[' || value === '{') depth++;
    at = end;
  }
  return tokens;
}

function skipBlank(sql: string, at: number): number {
  if (sql.startsWith('/*', at)) return endOfComment(sql, at);
  return matchAt(whitespace, sql, at) ?? matchAt(lineComment, sql, at) ?? at;
}

// Comments nest in ClickHouse.
function endOfComment(sql: string, start: number): number {
  let depth = 0;
  for (let at = start; at < sql.length; at++) {
    if (sql.startsWith('/*', at)) {
      depth++;
      at++;
    } else if (sql.startsWith('*/', at)) {
      depth--;
      at++;
      if (depth === 0) return at + 1;
    }
  }
  return sql.length;
}

function nextToken(
  sql: string,
  at: number,
  previous: Token | undefined,
  heredocTags: ReadonlyMap<string, number>,
): { kind: Token['kind']; end: number } {
  const first = sql[at] ?? '';
  if (first === "'" || first === '‘') return { kind: 'text', end: endOfQuoted(sql, at) };
  if (first === '"' || first === '`' || first === '“') {
    return { kind: 'name', end: endOfQuoted(sql, at) };
  }
  if (first === '{' && matchAt(parameterStart, sql, at) !== undefined) {
    return { kind: 'parameter', end: endOfParameter(sql, at) };
  }
  const heredoc = first === '$' ? endOfHeredoc(sql, at, heredocTags) : undefined;
  if (heredoc !== undefined) return { kind: 'text', end: heredoc };
  const word =
    matchAt(bareWord, sql, at) ??
    matchAt(previous?.value === '.' ? elementNumber : number, sql, at) ??
    (isOperand(previous) ? undefined : matchAt(fraction, sql, at));
  return word === undefined ? { kind: 'symbol', end: at + 1 } : { kind: 'word', end: word };
}

// A dot after an operand is no decimal point.
function isOperand(token: Token | undefined): boolean {
  return (
    token?.kind === 'word' || token?.kind === 'name' || token?.value === ')' || token?.value === ']'
  );
}

// A heredoc's tag counts only if it comes again.
function endOfHeredoc(
  sql: string,
  start: number,
  lastTags: ReadonlyMap<string, number>,
): number | undefined {
  const from = matchAt(heredocTag, sql, start);
  if (from === undefined) return undefined;
  const tag = sql.slice(start, from);
  if ((lastTags.get(tag) ?? -1) < from) return undefined;
  return sql.indexOf(tag, from) + tag.length;
}

// The last place of each tag. A search for the end from every dollar would take the square of the text's length.
function lastHeredocTags(sql: string): Map<string, number> {
  const tags = new Map<string, number>();
  for (let at = sql.indexOf('$'); at !== -1; ) {
    const next = sql.indexOf('$', at + 1);
    if (next !== -1) tags.set(sql.slice(at, next + 1), at);
    at = next;
  }
  return tags;
}

function endOfQuoted(sql: string, start: number): number {
  const quote = sql[start] ?? '';
  const curly = curlyQuotes.get(quote);
  if (curly !== undefined) return sql.indexOf(curly, start) + 1 || sql.length;
  for (let at = start + 1; at < sql.length; at++) {
    if (sql[at] === '\\') at++;
    else if (sql[at] === quote) {
      if (sql[at + 1] !== quote) return at + 1;
      at++;
    }
  }
  return sql.length;
}

// A parameter's type may hold quoted names: {t:DateTime64(3, 'UTC')}.
function endOfParameter(sql: string, start: number): number {
  for (let at = start + 1; at < sql.length; at++) {
    if (sql[at] === "'") at = endOfQuoted(sql, at) - 1;
    else if (sql[at] === '}') return at + 1;
  }
  return sql.length;
}

function matchAt(pattern: RegExp, sql: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(sql) ? pattern.lastIndex : undefined;
}
