// A chart as a PNG: its name, its drawing and the names of the lines that are on, in the colours that the page shows.

/** Two pixels for each of the page's: legible on dense screens and in slides. */
const scale = 2;
const marginPx = 16;
const titlePx = 28;
const rowPx = 22;
const markPx = 14;
/** What style sheets give a drawing: a picture has none. */
const styled = [
  ...['fill', 'fill-opacity', 'stroke', 'stroke-opacity', 'stroke-width', 'stroke-dasharray'],
  ...['stroke-linecap', 'stroke-linejoin', 'opacity', 'font-family', 'font-size', 'text-anchor'],
];

/** `figure` is a drawn chart of `web/charts`. Rejects where the browser makes no picture of it. */
export async function pictureOf(figure: HTMLElement, title: string): Promise<Blob> {
  const drawing = figure.querySelector('svg');
  if (!drawing) throw new Error('The chart is not drawn yet.');
  const { width, height } = drawing.getBoundingClientRect();
  const names = namesOf(figure);
  const { color, fontFamily } = getComputedStyle(figure);
  const canvas = document.createElement('canvas');
  const paint = canvas.getContext('2d');
  if (!paint) throw new Error('This browser draws no pictures.');
  const font = (sizePx: number): string => `${sizePx}px ${fontFamily}`;
  paint.font = font(13);
  const placed = placesOf(names, width, (text) => paint.measureText(text).width);
  const rows = (placed.at(-1)?.row ?? 0) + 1;
  // A canvas forgets its font with its size.
  canvas.width = Math.round((width + 2 * marginPx) * scale);
  canvas.height = Math.round((titlePx + height + rows * rowPx + 2 * marginPx) * scale);
  paint.scale(scale, scale);
  paint.fillStyle = groundOf(figure);
  paint.fillRect(0, 0, canvas.width, canvas.height);
  paint.textBaseline = 'middle';
  paint.fillStyle = color;
  paint.font = font(16);
  paint.fillText(title, marginPx, marginPx + titlePx / 2 - 4, width);
  paint.drawImage(await imageOf(drawing, width, height), marginPx, marginPx + titlePx);
  paint.font = font(13);
  for (const { name, mark, x, row } of placed) {
    const y = marginPx + titlePx + height + (row + 0.5) * rowPx;
    paint.fillStyle = mark;
    paint.fillRect(marginPx + x, y - 1.5, markPx, 3);
    paint.fillStyle = color;
    paint.fillText(name, marginPx + x + markPx + 6, y, width - markPx - 6);
  }
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) =>
      blob ? resolve(blob) : reject(new Error('The chart is too large for a picture.')),
    ),
  );
}

type Named = { name: string; mark: string };

/** Without the lines that are switched off, and what was before them. */
function namesOf(figure: HTMLElement): Named[] {
  const items = [...figure.querySelectorAll<HTMLElement>('.legend-item')];
  return items
    .filter((item) => item.dataset['hidden'] !== 'true')
    .map((item) => {
      const mark = item.querySelector('i');
      return {
        name: item.textContent ?? '',
        mark: mark ? getComputedStyle(mark).borderTopColor : 'currentColor',
      };
    });
}

/** In rows of at most `widthPx`. */
function placesOf(names: readonly Named[], widthPx: number, widthOf: (text: string) => number) {
  let [x, row] = [0, 0];
  return names.map((named) => {
    const needed = markPx + 6 + widthOf(named.name);
    if (x > 0 && x + needed > widthPx) [x, row] = [0, row + 1];
    const placed = { ...named, x, row };
    x += needed + 18;
    return placed;
  });
}

/** The colour behind the chart: that of the nearest element that has one. */
function groundOf(element: HTMLElement): string {
  const { backgroundColor } = getComputedStyle(element);
  if (!/^(?:transparent|rgba\(.*, 0\))$/.test(backgroundColor)) return backgroundColor;
  return element.parentElement ? groundOf(element.parentElement) : 'white';
}

async function imageOf(
  drawing: SVGSVGElement,
  width: number,
  height: number,
): Promise<HTMLImageElement> {
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const [own, copied] = [drawing, copy].map((svg) => [svg, ...svg.querySelectorAll('*')]);
  for (const [index, element] of (own ?? []).entries()) {
    const style = getComputedStyle(element);
    for (const name of styled) copied?.[index]?.setAttribute(name, style.getPropertyValue(name));
  }
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await image.decode();
  return image;
}
