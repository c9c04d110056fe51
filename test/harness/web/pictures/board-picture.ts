// A board as the PNG that its page gives: the file, and what is drawn in the place of each tile.

import { readFileSync } from 'node:fs';
import type { FrameLocator, Page } from 'playwright-core';
import { type Picture, pictureOf } from './png.ts';

/**
 * Presses the button by keyboard, once nothing is on its way. `page`: where the browser hands the file over; `board`:
 * the page, or its frame.
 */
export async function takenPicture(
  page: Page,
  board: Page | FrameLocator,
  name: string,
): Promise<Picture> {
  const busy = board.locator('.page[aria-busy="true"], .page :is(.loading, [aria-busy="true"])');
  await busy.first().waitFor({ state: 'detached' });
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    board.getByRole('button', { name: 'Board as PNG' }).press('Enter'),
  ]);
  if (file.suggestedFilename() !== name)
    throw new Error(`it is called ${file.suggestedFilename()}`);
  return pictureOf(readFileSync(await file.path()));
}

interface Area {
  name: string;
  x: number;
  /** From the page's end, as what stands above the tiles is lower in a picture. */
  aboveEnd: number;
  width: number;
  height: number;
}

export interface Drawn {
  name: string;
  /** Of the brightness of its pixels, from 0 to 255: 0 where there is one colour alone. */
  variance: number;
  /** As `r,g,b`. */
  colours: ReadonlySet<string>;
}

/** Below the title of each tile, in the order of the page. The picture is of two pixels for each of the page's. */
export async function drawnTiles(board: Page, picture: Picture): Promise<Drawn[]> {
  const areas = await board.evaluate<Area[]>(`{
    const page = document.querySelector('.page').getBoundingClientRect();
    [...document.querySelectorAll('.tile-body')].map((body) => {
      const { x, y, width, height } = body.getBoundingClientRect();
      return { name: body.ariaLabel, x: x - page.x, aboveEnd: page.bottom - y, width, height };
    });
  }`);
  return areas.map(({ name, x, aboveEnd, width, height }) => ({
    name,
    ...inArea(picture, {
      ...{ left: Math.round(x * 2), right: Math.round((x + width) * 2) },
      ...{ top: picture.height - Math.round(aboveEnd * 2), rows: Math.round(height * 2) },
    }),
  }));
}

function inArea(
  picture: Picture,
  { left, right, top, rows }: { left: number; right: number; top: number; rows: number },
): Omit<Drawn, 'name'> {
  let [count, sum, squares] = [0, 0, 0];
  const colours = new Set<string>();
  for (let y = top; y < top + rows; y++)
    for (let x = left; x < right; x++) {
      const colour = picture.at(x, y);
      colours.add(colour.join());
      const brightness = (colour[0] + colour[1] + colour[2]) / 3;
      count += 1;
      sum += brightness;
      squares += brightness ** 2;
    }
  return { variance: squares / count - (sum / count) ** 2, colours };
}

/** How many lines of text stand one under another in a picture, in the columns of a tile. */
export async function linesOfTile(board: Page, picture: Picture, name: string): Promise<number> {
  // A long picture has fewer than two pixels for each of the page's.
  const share = await board.evaluate<{ left: number; right: number }>(`{
    const page = document.querySelector('.page').getBoundingClientRect();
    const { left, right } = document.querySelector('${bodyOf(name)}').getBoundingClientRect();
    ({ left: (left - page.left) / page.width, right: (right - page.left) / page.width });
  }`);
  const left = Math.ceil(share.left * picture.width);
  const right = Math.floor(share.right * picture.width);
  let [lines, last] = [0, Number.NEGATIVE_INFINITY];
  for (let y = 0; y < picture.height; y++) {
    if (!hasInk(picture, y, left, right)) continue;
    // The dot of a letter is no line of its own, and lines of text are further apart.
    if (y - last > 12) lines += 1;
    last = y;
  }
  return lines;
}

/** Dark as a text is on light ground, and no border. */
function hasInk(picture: Picture, y: number, left: number, right: number): boolean {
  for (let x = left; x < right; x++) {
    const [red, green, blue] = picture.at(x, y);
    if (red + green + blue < 3 * 110) return true;
  }
  return false;
}

/** From now on the page remembers what it has the browser draw, until it is loaded again. */
export async function rememberDrawing(board: Page): Promise<void> {
  await board.evaluate(`{
    const { decode } = HTMLImageElement.prototype;
    HTMLImageElement.prototype.decode = function () {
      window.drawing = this.src;
      return decode.call(this);
    };
  }`);
}

/** The options that are marked as chosen in what was drawn of the whole board: an image knows attributes alone. */
export async function chosenInDrawing(board: Page): Promise<string[]> {
  const address = await board.evaluate<string>('window.drawing');
  const drawing = Buffer.from(address.split(',')[1] ?? '', 'base64').toString();
  return [...drawing.matchAll(/<option[^>]* selected=""[^>]*>([^<]*)/g)].map(
    ([, name = '']) => name,
  );
}

const bodyOf = (name: string) => `.tile-body[aria-label="${name}"]`;
