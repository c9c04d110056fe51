// The words of a ClickHouse statement with their places: enough to find clauses and parameters without mistaking the
// inside of a string, a quoted name or a comment for them. It does not understand the grammar; the engine does.

export interface Token {
  kind: 'word' | 'text' | 'parameter' | 'symbol';
  /** Words in upper case, symbols as they are, '' for quoted text and parameters. */
  value: string;
  start: number;
  end: number;
  /** How many brackets are open around it. */
  depth: number;
}

const whitespace = /[\s\ufeff]+/y;
const lineComment = /(--|#!|#\s).*/y;
const word = /[\p{L}\p{N}_]+/uy;
const parameterStart = /\{\s*[A-Za-z_]\w*\s*:/y;
const heredocTag = /\$\w*\$/y;

/** Splits `sql`. An unterminated string or comment becomes one token to the end: the engine reports it. */
export function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  let depth = 0;
  for (let at = 0; at < sql.length; ) {
    const skipped = skipBlank(sql, at);
    if (skipped > at) {
      at = skipped;
      continue;
    }
    const { kind, end } = nextToken(sql, at);
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

// ClickHouse nests comments.
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

function nextToken(sql: string, at: number): { kind: Token['kind']; end: number } {
  const first = sql[at];
  if (first === "'" || first === '"' || first === '`') {
    return { kind: 'text', end: endOfQuoted(sql, at) };
  }
  if (first === '{' && matchAt(parameterStart, sql, at) !== undefined) {
    return { kind: 'parameter', end: endOfParameter(sql, at) };
  }
  const heredoc = matchAt(heredocTag, sql, at);
  if (heredoc !== undefined) {
    const tag = sql.slice(at, heredoc);
    const close = sql.indexOf(tag, heredoc);
    return { kind: 'text', end: close === -1 ? sql.length : close + tag.length };
  }
  const wordEnd = matchAt(word, sql, at);
  return wordEnd === undefined ? { kind: 'symbol', end: at + 1 } : { kind: 'word', end: wordEnd };
}

function endOfQuoted(sql: string, start: number): number {
  const quote = sql[start];
  for (let at = start + 1; at < sql.length; at++) {
    if (sql[at] === '\\') at++;
    else if (sql[at] === quote) {
      if (sql[at + 1] !== quote) return at + 1;
      at++;
    }
  }
  return sql.length;
}

// A type may hold quoted names: {t:DateTime64(3, 'UTC')}.
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
