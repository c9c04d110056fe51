// axe-core on a page as it stands.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  id: string;
  nodes: { target: string[]; failureSummary: string }[];
}

const contrast = 'color-contrast';
const rules = {
  all: {},
  colours: { runOnly: [contrast] },
  /** Contrast takes the most time by far. */
  'all but colours': { rules: { [contrast]: { enabled: false } } },
};

/** While a text fades in, or a button turns to its state from the next frame on, colours have too little contrast. */
const untilAllAppeared = `new Promise((drawn) => setTimeout(drawn, 50))
  .then(() => Promise.allSettled([
    ...[...document.querySelectorAll('.loading, .updating > span')].flatMap((one) => one.getAnimations()),
    ...document.getAnimations().filter((one) => one instanceof CSSTransition),
  ].map(({ finished }) => finished)))
  .then(() => undefined)`;

/** One sentence for each violation, with the first element that has it. */
export async function axe(page: Page, which: keyof typeof rules = 'all'): Promise<string[]> {
  const options = { resultTypes: ['violations'], ...rules[which] };
  await page.evaluate(untilAllAppeared);
  await page.evaluate(`globalThis.axe || (() => { ${source} })()`);
  const violations: Violation[] = await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  );
  return violations.map(({ id, nodes }) => {
    const [first] = nodes;
    return `${id} at ${nodes.length} places, first ${first?.target}: ${first?.failureSummary}`;
  });
}
