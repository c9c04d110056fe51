import { expect, it } from 'vitest';
import { failureOf } from './statement-failure.ts';

it('has the sentence, the kind and the place of what the service says', () => {
  const syntax = failureOf(
    'Code: 62. DB::Exception: Syntax error: failed at ( (line 2, col 13). Unmatched parentheses: (. (SYNTAX_ERROR)\n',
  );
  expect(syntax).toMatchObject({
    ...{ kind: 'syntax', place: { line: 2, column: 13 } },
    message: 'Syntax error: failed at ( (line 2, col 13). Unmatched parentheses: (.',
  });
  expect(
    failureOf(
      'Code: 497. DB::Exception: the function throwif is not allowed here. (ACCESS_DENIED)',
    ),
  ).toMatchObject({ kind: 'refused', message: 'The function throwif is not allowed here.' });
  expect(
    failureOf('Code: 201. DB::Exception: the statement took too long: ask for less. (X)').kind,
  ).toBe('bound');
  const unknown = failureOf(
    'Code: 47. DB::Exception: Unknown expression identifier `blub`. (UNKNOWN_IDENTIFIER)',
  );
  expect(unknown).toMatchObject({
    kind: 'engine',
    message: 'Unknown expression identifier `blub`.',
  });
  expect(unknown.place).toBeUndefined();
});

it('tells what has another form as it is', () => {
  expect(failureOf('bad gateway')).toMatchObject({ kind: 'engine', message: 'Bad gateway' });
  expect(failureOf('').message).toBe('The service gave no reason.');
});
