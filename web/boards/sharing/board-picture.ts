// A board as one PNG: the page is copied with its styles into an SVG image, which the browser lays out as it does the
// page, and painted. What a reader presses is left out. A tile has all its rows; what is wider is cut at its edge.

/** Two pixels for each of the page's: legible on dense screens and in slides. */
const usualDensity = 2;
/**
 * What every browser paints: Safari on iOS has the smallest area, 4,096 x 4,096, and Firefox and Chrome had the
 * shortest side. Beyond that a canvas stays blank without a word. Source: the results of jhildenbiddle/canvas-size.
 */
const maxArea = 16_777_216;
const maxSide = 32_767;

/** The pixels for each of a page of so many px: as dense as is usual, and less so where no canvas is that large. */
export function densityOf(width: number, height: number): number {
  const longest = Math.max(width, height);
  return Math.min(usualDensity, maxSide / longest, Math.sqrt(maxArea / (width * height)));
}

/** Beside the page's own styles, which are in layers: these come before all of them. */
const styles = `.picture {
  background: var(--paper);
  * { animation: none !important; transition: none !important }
  .print-only { display: block }
  .page { max-width: none; margin: 0 }
  .in-sight, .in-sight > .row { position: static !important }
  .board-grid { grid-auto-rows: minmax(20px, auto) }
  .tile-body { flex: 1 0 auto; min-height: auto; overflow: clip visible }
  .scroll { max-height: none; overflow: visible }
  :is(.button, .menu, .tip, .no-print, dialog, .updating, details.data:not([open])),
  button:not(.legend-item, .chip > :first-child, td button, .bars button, .funnel p button, .funnel-columns p button) {
    display: none !important;
  }
}`;

/** `page`: with all that is to be seen, in the theme that it has. Rejects where the browser makes no picture of it. */
export async function pictureOfPage(page: HTMLElement): Promise<Blob> {
  const copy = document.createElement('div');
  copy.className = 'picture';
  copy.append(page.cloneNode(true));
  keepChoices(page, copy);
  const width = Math.ceil(page.getBoundingClientRect().width);
  const height = heightOf(copy, width);
  await embedImages(copy);
  const image = new Image();
  image.src = await dataUrl(new Blob([drawingOf(copy, width, height)], { type: 'image/svg+xml' }));
  await image.decode();
  const density = densityOf(width, height);
  const canvas = document.createElement('canvas');
  canvas.width = Math.floor(width * density);
  canvas.height = Math.floor(height * density);
  const paint = canvas.getContext('2d');
  if (!paint) throw new Error('This browser draws no pictures.');
  paint.scale(density, density);
  paint.drawImage(image, 0, 0);
  // Safari often has no images within an image at its first drawing. No tab that is out of sight gets a frame: a timer.
  await new Promise((goOn) => setTimeout(goOn, 50));
  paint.clearRect(0, 0, width, height);
  paint.drawImage(image, 0, 0);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) =>
      blob ? resolve(blob) : reject(new Error('The board is too large for a picture.')),
    ),
  );
}

/** A drawing has attributes alone: what a reader has chosen and written is none, and a copy forgets a chosen option. */
function keepChoices(page: HTMLElement, copy: HTMLElement): void {
  const options = copy.querySelectorAll('option');
  for (const [place, { selected }] of page.querySelectorAll('option').entries())
    options[place]?.toggleAttribute('selected', selected);
  for (const input of copy.querySelectorAll('input')) {
    input.setAttribute('value', input.value);
    input.toggleAttribute('checked', input.checked);
  }
}

/** In px, as the page lays it out beside what is shown, unseen. */
function heightOf(copy: HTMLElement, width: number): number {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  const others = [...document.adoptedStyleSheets];
  copy.style.cssText = `position: absolute; top: 0; visibility: hidden; width: ${width}px`;
  document.adoptedStyleSheets = [...others, sheet];
  document.body.append(copy);
  const height = Math.ceil(copy.getBoundingClientRect().height);
  copy.remove();
  document.adoptedStyleSheets = others;
  copy.removeAttribute('style');
  return height;
}

/** An image loads no other file. What cannot be read is left out: these are marks, beside their names. */
async function embedImages(copy: HTMLElement): Promise<void> {
  const images = [...copy.querySelectorAll('img')];
  const files = new Map<string, Promise<string>>();
  for (const { src } of images) if (!files.has(src)) files.set(src, readFile(src));
  await Promise.all(
    images.map(async (image) => {
      image.removeAttribute('loading');
      image.src = (await files.get(image.src)) ?? '';
    }),
  );
}

async function readFile(source: string): Promise<string> {
  const answer = await fetch(source).catch(() => undefined);
  return answer?.ok ? dataUrl(await answer.blob()) : '';
}

/** As wide as the window, which the styles ask for: the canvas cuts it to the page. */
function drawingOf(copy: HTMLElement, width: number, height: number): string {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('width', String(Math.max(width, window.innerWidth)));
  svg.setAttribute('height', String(height));
  const { font, color } = getComputedStyle(document.documentElement);
  svg.style.font = font;
  svg.style.color = color;
  svg.dataset['theme'] = shownTheme();
  const place = document.createElementNS('http://www.w3.org/2000/svg', 'foreignObject');
  place.setAttribute('width', String(width));
  place.setAttribute('height', String(height));
  const style = document.createElement('style');
  style.textContent = `${rulesOf(document.styleSheets)}\n${styles}`;
  place.append(style, copy);
  svg.append(place);
  return xmlText(new XMLSerializer().serializeToString(svg));
}

/** Without the characters that XML has not, and stored texts may. Source: https://www.w3.org/TR/xml/#charsets. */
export function xmlText(text: string): string {
  return text.replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '');
}

function shownTheme(): string {
  const { theme } = document.documentElement.dataset;
  if (theme === 'light' || theme === 'dark') return theme;
  return window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/** All rules of `sheets` as one text, without those of a sheet from another origin: no page may read them. */
export function rulesOf(sheets: Iterable<{ cssRules: Iterable<{ cssText: string }> }>): string {
  return [...sheets].flatMap(textsOf).join('\n');
}

function textsOf(sheet: { cssRules: Iterable<{ cssText: string }> }): string[] {
  try {
    return [...sheet.cssRules].map(({ cssText }) => cssText);
  } catch {
    return [];
  }
}

function dataUrl(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error('The picture could not be made.'));
    reader.readAsDataURL(blob);
  });
}
