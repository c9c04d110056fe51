// Icons of installed packages as drawings: what is inside their <svg>, with the box that it is drawn in. Each package
// is under the MIT license.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

export type Drawing = {
  /** `0 0 16 16`. */
  viewBox: string;
  /** Elements of SVG; `currentColor` stands where the icon leaves its colour to others. */
  elements: string;
  /** Attributes of the <svg> that its elements inherit, each with a space before it. */
  inherited: string;
};

const require = createRequire(import.meta.url);

/** The packages by the names that `icon-table.ts` has for them. */
const sets: Readonly<Record<string, (name: string) => Drawing | undefined>> = {
  bi: fromSet('@iconify-json/bi'),
  tabler: fromSet('@iconify-json/tabler'),
  // Not from Iconify's set of them: there flags of languages have the codes of countries.
  flags: fromFiles('circle-flags/flags'),
  ai: fromFiles('@lobehub/icons-static-svg/icons'),
};

/** `icon`: "bi/google". Throws where the package has no such icon. */
export function drawingOf(icon: string): Drawing {
  const [set = '', name = ''] = icon.split('/');
  const drawing = sets[set]?.(name);
  if (drawing === undefined) throw new Error(`no package has the icon ${icon}`);
  return drawing;
}

/** A JSON file with the icons of a set, in Iconify's format. */
type IconSet = {
  icons: Record<string, { body: string; width?: number; height?: number } | undefined>;
  aliases?: Record<string, { parent: string } | undefined>;
  width?: number;
  height?: number;
};

function fromSet(name: string): (icon: string) => Drawing | undefined {
  let set: IconSet | undefined;
  return (icon) => {
    set ??= readSet(name);
    const { icons, aliases = {} } = set;
    const found = icons[icon] ?? icons[aliases[icon]?.parent ?? ''];
    if (found === undefined) return undefined;
    // 16 is the format's own default.
    const { width = set.width ?? 16, height = set.height ?? 16 } = found;
    return { viewBox: `0 0 ${width} ${height}`, elements: found.body, inherited: '' };
  };
}

function readSet(name: string): IconSet {
  return JSON.parse(readFileSync(require.resolve(`${name}/icons.json`), 'utf8'));
}

function fromFiles(folder: string): (icon: string) => Drawing | undefined {
  return (icon) => {
    const text = readFileSync(require.resolve(`${folder}/${icon}.svg`), 'utf8');
    const [, head = '', elements = ''] = /^<svg([^>]*)>(.*)<\/svg>\s*$/s.exec(text) ?? [];
    const viewBox = /viewBox="([^"]+)"/.exec(head)?.[1];
    if (viewBox === undefined) return undefined;
    return {
      viewBox,
      elements: elements.replace(/<title>[^<]*<\/title>/, ''),
      inherited: (head.match(/ fill(?:-rule)?="[^"]*"/g) ?? []).join(''),
    };
  };
}
