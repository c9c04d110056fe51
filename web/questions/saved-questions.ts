// The saved questions of a project: the tiles of its boards that ask one. What stands on several boards under one name
// is one question.

import type { Dashboard, Tile } from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import type { InsightQuerySpec } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { hasEachWord } from '../fields/fold-case.ts';
import { writeSpec } from '../question/ask.ts';
import { formOf } from '../question/forms.ts';
import { questionName } from '../results/names.ts';

export type SavedQuestion = {
  /** Its name and what it asks: no other has both. */
  key: string;
  name: string;
  form: string;
  spec: InsightQuerySpec;
  /** Where it stands, each board once; in one of them it may stand twice. */
  boards: { id: string; name: string; tile: Tile }[];
};

export function questionsOf(boards: readonly Dashboard[]): SavedQuestion[] {
  const found = new Map<string, SavedQuestion>();
  for (const { id, displayName, tiles } of boards) {
    for (const tile of tiles) {
      if (tile.content.case !== 'insight') continue;
      const spec = tile.content.value;
      const key = keyOf(tile);
      const form = formOf(spec).name;
      const name = tile.title || questionName(form, spec);
      const known = found.get(key) ?? { key, name, form, spec, boards: [] };
      const isListed = known.boards.some((board) => board.id === id);
      if (!isListed) known.boards.push({ id, name: displayName, tile });
      found.set(key, known);
    }
  }
  return [...found.values()].sort((one, other) => one.name.localeCompare(other.name, 'en'));
}

/** Of a tile that asks a question. */
export function keyOf({ title, content }: Tile): string {
  return content.case === 'insight' ? `${title}\n${writeSpec(content.value)}` : '';
}

/** Whether a reader who looks for the text means this one: by its name, its form or a board. */
export function isMeant({ name, form, boards }: SavedQuestion, text: string): boolean {
  return hasEachWord([name, form, ...boards.map((board) => board.name)].join(' '), text);
}
