// The colours of the theme for a canvas, where CSS variables do not reach.

function value(style: CSSStyleDeclaration, name: string): string {
  return style.getPropertyValue(name).trim();
}

/** A color of the theme as the browser computes it: `light-dark()` is no colour for a canvas. */
function computed(names: readonly string[]): string[] {
  const probe = document.createElement('i');
  document.body.append(probe);
  const style = getComputedStyle(probe);
  const colors = names.map((name) => {
    probe.style.color = `var(${name})`;
    return value(style, 'color');
  });
  probe.remove();
  return colors;
}

export function seriesColors(): string[] {
  return computed([0, 1, 2, 3, 4, 5, 6, 7].map((index) => `--series-${index}`));
}

export function textColors(): { ink: string; grid: string; card: string } {
  const [ink = '', grid = '', card = ''] = computed(['--ink-2', '--line', '--card']);
  return { ink, grid, card };
}
