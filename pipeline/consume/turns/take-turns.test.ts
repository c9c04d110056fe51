import { describe, expect, it } from 'vitest';
import { importMark } from '../../../proto/wire/frame.ts';
import { fairShare } from './fair-share.ts';
import { takeTurns, type WaitingMessage } from './take-turns.ts';

const imports = importMark('a');
const bounds = { maxRows: 100, maxBytes: 1e6, maxMessages: 1_000, enoughShare: 1 };

/**
 * Messages of `rows` events each, in stream order; a text such as 'ab' is a message of the projects a and b, and I is
 * the lane of an import.
 */
function waiting(texts: readonly string[], rows = 10, bytes = 1): WaitingMessage[] {
  return texts.map((text, index) => ({
    message: { seq: index + 1, data: new Uint8Array() },
    queuedBytes: bytes,
    bytes,
    rows,
    projects: Array.from(text, (letter) => (letter === 'I' ? imports : letter.charCodeAt(0))),
  }));
}

const taken = (
  messages: WaitingMessage[],
  override: Partial<typeof bounds & { maxImportRows: number }> = {},
): number[] =>
  takeTurns(messages, { ...bounds, ...override }).taken.map(({ message }) => message.seq);

/** `count` texts. */
const times = (count: number, text: string): string[] => Array.from({ length: count }, () => text);

describe('a fair share', () => {
  it('is for those who want more, once the others have all they want', () => {
    expect(fairShare([1, 50, 60], 100)).toBe(49.5);
    expect(fairShare([10, 10], 100)).toBe(Number.POSITIVE_INFINITY);
    expect(fairShare([200], 100)).toBe(100);
    expect(fairShare([200, 200, 200, 200], 100)).toBe(25);
    expect(fairShare([], 100)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('a turn', () => {
  it('takes all that waits where a batch has room for it', () => {
    expect(taken(waiting(['a', 'b', '', 'ab']))).toEqual([1, 2, 3, 4]);
    expect(taken([])).toEqual([]);
  });

  it('takes what others sent behind a project that fills the batch, and all of it', () => {
    const { taken: now, left } = takeTurns(waiting([...times(50, 'a'), 'b', 'c', 'b']), bounds);
    expect(now.map(({ message }) => message.seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 51, 52, 53]);
    expect(left.map(({ message }) => message.seq)).toEqual(
      Array.from({ length: 43 }, (_, index) => index + 8),
    );
  });

  it('shares a batch among those who want more than it has', () => {
    const messages = waiting([...times(40, 'a'), ...times(40, 'b')]);
    expect(taken(messages)).toEqual([1, 2, 3, 4, 5, 41, 42, 43, 44, 45]);
  });

  it('counts bytes and messages as it counts rows', () => {
    const messages = waiting([...times(40, 'a'), 'b'], 1, 100_000);
    expect(taken(messages, { maxBytes: 500_000 })).toEqual([1, 2, 3, 4, 41]);
    expect(taken(waiting([...times(40, 'a'), 'b'], 0), { maxMessages: 4 })).toEqual([1, 2, 3, 41]);
  });

  it('lets no message pass an earlier one of its project, alone or with others', () => {
    const messages = waiting([...times(20, 'a'), 'ab', 'b', 'c']);
    // The message of both waits for a's turn, and so does b's next one.
    expect(taken(messages)).toEqual([1, 2, 3, 4, 5, 6, 7, 23]);
  });

  it('lets no message pass one that does not say whose it is, which passes none', () => {
    expect(taken(waiting([...times(20, 'a'), '', 'b']))).toEqual(
      Array.from({ length: 8 }, (_, index) => index + 1),
    );
    expect(taken(waiting(['', ...times(20, 'a'), 'b'])).at(-1)).toBe(22);
  });

  it('takes half a batch where several take turns, and a whole one of a project that is alone', () => {
    const half = { enoughShare: 0.5 };
    expect(taken(waiting([...times(40, 'a'), 'b']), half)).toEqual([1, 2, 3, 4, 41]);
    expect(taken(waiting(times(40, 'a')), half)).toHaveLength(10);
    expect(taken(waiting([...times(9, 'a'), 'b']), half)).toHaveLength(10);
  });

  it('takes a message that alone is larger than a batch, and nothing with it', () => {
    const [large, ...rest] = waiting(['a', 'b', 'a'], 500);
    if (large === undefined) throw new Error('nothing waits');
    expect(taken([large, ...rest])).toEqual([1]);
  });

  it('ends, and keeps the order of each project, whatever waits', () => {
    const texts = Array.from(
      { length: 400 },
      (_, n) => ['a', 'a', 'a', 'b', 'ac', '', 'd'][(n * n) % 7],
    );
    let left = waiting(texts.map((text) => text ?? ''));
    const order: number[] = [];
    while (left.length > 0) {
      const turn = takeTurns(left, bounds);
      expect(turn.taken.length).toBeGreaterThan(0);
      const rows = turn.taken.reduce((sum, one) => sum + one.rows, 0);
      expect(rows).toBeLessThanOrEqual(bounds.maxRows);
      order.push(...turn.taken.map(({ message }) => message.seq));
      left = turn.left;
    }
    expect(order.toSorted((a, b) => a - b)).toEqual(texts.map((_, index) => index + 1));
    for (const letter of 'abcd') {
      const own = order.filter((seq) => texts[seq - 1]?.includes(letter));
      expect(own).toEqual(own.toSorted((a, b) => a - b));
    }
  });

  it('leaves a bounded number of stretches behind', () => {
    const texts = Array.from({ length: 10_000 }, (_, n) => (n % 2 === 0 ? 'a' : 'b'));
    const messages = waiting(texts, 1).map((one, n) => (n % 2 === 0 ? { ...one, rows: 100 } : one));
    const { taken: now } = takeTurns(messages, { ...bounds, maxRows: 10_000, maxMessages: 1e5 });
    const ranges = now.filter(({ message }, n) => now[n - 1]?.message.seq !== message.seq - 1);
    expect(ranges.length).toBeGreaterThan(100);
    expect(ranges.length).toBeLessThanOrEqual(2_001);
  });

  it('takes so many rows of imports, the first message whatever its size, and all of the others', () => {
    const some = waiting([...times(6, 'I'), 'a', 'I', 'a']);
    expect(taken(some, { maxImportRows: 25 })).toEqual([1, 2, 7, 9]);
    expect(taken(some, { maxImportRows: 5 })).toEqual([1, 7, 9]);
    expect(taken(some, { maxImportRows: 70 })).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(taken(some)).toHaveLength(9);
    // A message of both is no import's, and keeps its place behind the import's own.
    expect(taken(waiting(['I', 'I', 'aI', 'a']), { maxImportRows: 10 })).toEqual([1]);
  });
});
