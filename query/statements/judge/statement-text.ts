// Takes a statement's text apart before the engine's parser sees it: one SELECT, or a question about tables that
// becomes one; its FORMAT and SETTINGS, which the tree of a query does not show wholly, are cut out. Names that a line
// of the tree could not hold are refused. What the SELECT reads is judged by judge-tree.ts.

import { type Token, tokenize } from '../../../platform/clickhouse/statement-tokens.ts';
import { notAllowed, wrongSyntax } from '../refusal.ts';

export interface StatementText {
  /** A SELECT without FORMAT and SETTINGS. */
  select: string;
  /** Whether the columns of the SELECT are asked for instead of its rows. */
  describes: boolean;
  /** Of the FORMAT clause. */
  format: string | undefined;
  /** Of the SETTINGS clause, in its order. */
  settings: ReadonlyMap<string, string>;
}

export const maxStatementCharacters = 262_144;
const selectWords = new Set(['SELECT', 'WITH', 'FROM', '(']);
const questionWords = new Set(['SHOW', 'DESCRIBE', 'DESC', 'EXISTS']);

/** Throws StatementRefusal. `questionOf` makes the SELECT of a question about tables, or undefined. */
export function readStatementText(
  sql: string,
  questionOf: (sql: string, tokens: readonly Token[]) => string | undefined,
): StatementText {
  if (sql.length > maxStatementCharacters) {
    throw wrongSyntax(`a statement has at most ${maxStatementCharacters} characters`);
  }
  if (sql.includes('\0')) throw wrongSyntax('a statement has no NUL');
  const all = tokenize(sql);
  let last = all.length;
  while (last > 0 && all[last - 1]?.value === ';') last--;
  const tokens = all.slice(0, last);
  if (tokens.length === 0) throw wrongSyntax('the statement is empty');
  if (tokens.some(({ value }) => value === ';')) throw wrongSyntax('send one statement at a time');
  checkNames(sql, tokens);
  const cut = cutClauses(sql, tokens);
  refuseClauses(cut.tokens);
  const rest = cut.tokens;
  const first = rest[0]?.value ?? '';
  const text = sql.slice(0, rest.at(-1)?.end ?? 0);
  const asked = { format: cut.format, settings: cut.settings };
  if (selectWords.has(first)) return { select: text, describes: false, ...asked };
  if (!questionWords.has(first)) {
    throw notAllowed(
      `only SELECT is allowed, and SHOW, DESCRIBE and EXISTS: not ${first || 'this'}`,
    );
  }
  const described = describedSelect(text, rest);
  if (described !== undefined) return { select: described, describes: true, ...asked };
  const question = questionOf(text, rest);
  if (question === undefined) throw notAllowed(`this form of ${first} is not allowed`);
  return { select: question, describes: false, ...asked };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it refuses
const wrongInName = /[\x00-\x1f\x7f\u0085\u2028\u2029\\'"`:“”]/;
/** A pattern of columns, which the tree shows as it is. */
const plainPattern = /^'[\w .,*+?^$|()[\]{}-]*'$/;

function checkNames(sql: string, tokens: readonly Token[]): void {
  tokens.forEach((token, index) => {
    const text = sql.slice(token.start, token.end);
    if (token.kind === 'name' && wrongInName.test(text.slice(1, -1))) {
      throw notAllowed('a quoted name has no quote, backslash, colon or line break');
    }
    if (token.kind !== 'text') return;
    const before = tokens[index - 1]?.value ?? '';
    if (before === 'FROM' || before === 'JOIN') throw notAllowed('a table is named without quotes');
    const opener = before === '(' ? tokens[index - 2]?.value : before;
    if ((opener === 'COLUMNS' || opener === 'EXCEPT') && !plainPattern.test(text)) {
      throw notAllowed('this pattern of columns is not allowed: name the columns');
    }
  });
}

const ofIdentifier = /^\{\s*(\w+)\s*:\s*Identifier\s*\}$/;

/**
 * Throws StatementRefusal for a parameter that becomes a name and is more than letters, digits and spaces: a line of
 * the tree could not hold it.
 */
export function checkNameParameters(sql: string, params: ReadonlyMap<string, string>): void {
  for (const { kind, start, end } of tokenize(sql)) {
    if (kind !== 'parameter') continue;
    const text = sql.slice(start, end);
    const isName = /identifier/i.test(text);
    const [, name = ''] = ofIdentifier.exec(text) ?? [];
    if (isName && !/^[\w ]{1,100}$/.test(params.get(name) ?? '')) {
      throw notAllowed('a parameter that is a name has letters, digits and spaces alone');
    }
  }
}

interface Cut {
  tokens: readonly Token[];
  format: string | undefined;
  settings: ReadonlyMap<string, string>;
}

/** From the end: FORMAT name, SETTINGS name = value, in either order. */
function cutClauses(sql: string, all: readonly Token[]): Cut {
  let tokens = all;
  let format: string | undefined;
  let settings: ReadonlyMap<string, string> | undefined;
  for (;;) {
    const named = tokens.at(-1);
    const isFormat = tokens.at(-2)?.value === 'FORMAT' && tokens.length > 2 && named?.depth === 0;
    if (isFormat && format === undefined && named.kind === 'word') {
      format = sql.slice(named.start, named.end);
      tokens = tokens.slice(0, -2);
      continue;
    }
    const at = tokens.findLastIndex(({ value, depth }) => value === 'SETTINGS' && depth === 0);
    const read =
      at > 0 && settings === undefined ? readSettings(sql, tokens.slice(at + 1)) : undefined;
    if (read === undefined) break;
    settings = read;
    tokens = tokens.slice(0, at);
  }
  return { tokens, format, settings: settings ?? new Map() };
}

/** Undefined where the tokens are no list of settings with plain values. */
function readSettings(
  sql: string,
  tokens: readonly Token[],
): ReadonlyMap<string, string> | undefined {
  const settings = new Map<string, string>();
  for (let at = 0; ; at += 4) {
    const [name, equals, value, comma] = tokens.slice(at, at + 4);
    if (name?.kind !== 'word' || equals?.value !== '=' || value === undefined) return undefined;
    const text = sql.slice(value.start, value.end);
    const isPlain = value.kind === 'word' || (value.kind === 'text' && /^'[^'\\]*'$/.test(text));
    if (!isPlain) return undefined;
    settings.set(sql.slice(name.start, name.end), value.kind === 'text' ? text.slice(1, -1) : text);
    if (comma === undefined) return settings;
    if (comma.value !== ',') return undefined;
  }
}

/** SETTINGS that a parser could still find: those of a query in brackets are not in its tree. */
function refuseClauses(tokens: readonly Token[]): void {
  tokens.forEach(({ value }, index) => {
    const next = tokens[index + 1];
    const isName = next?.kind === 'word' || next?.kind === 'name';
    // Behind a dot it is a part of a name.
    if (value === 'SETTINGS' && isName && tokens[index - 1]?.value !== '.') {
      throw notAllowed('SETTINGS stand at the end of the statement, with plain values');
    }
    if (value === 'OUTFILE' && tokens[index - 1]?.value === 'INTO') {
      throw notAllowed('INTO OUTFILE is not allowed: take the answer');
    }
  });
}

/** Of DESCRIBE (SELECT ...). */
function describedSelect(text: string, tokens: readonly Token[]): string | undefined {
  const [first, second] = tokens;
  if (first?.value !== 'DESC' && first?.value !== 'DESCRIBE') return undefined;
  const open = second?.value === 'TABLE' ? tokens[2] : second;
  const close = tokens.at(-1);
  if (open?.value !== '(' || close?.value !== ')' || close.depth !== 0) return undefined;
  return text.slice(open.end, close.start).trim();
}
