import { expect, it } from 'vitest';
import { Standing } from './standing.ts';

it('tells each end and return, and other processes have the same engines away', () => {
  const keeping = new Standing();
  const member = new Standing();
  keeping.onChange(() => member.replace(JSON.parse(JSON.stringify(keeping.away))));
  keeping.set('broker', false);
  keeping.set('clickhouse', false);
  keeping.set('broker', true);
  for (const standing of [keeping, member]) {
    expect(standing.isAway('broker')).toBe(false);
    expect(standing.isAway('clickhouse')).toBe(true);
    expect(standing.changes).toBe(3);
  }
  member.replace(undefined);
  expect(member.away).toEqual([]);
  expect(member.changes).toBe(4);
});
