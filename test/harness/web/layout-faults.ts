// What of a page does not fit its place: for a reader it is cut, or it stands where nobody sees it.

import type { Page } from 'playwright-core';

/** Of the arrow that a browser draws into a list of choices. */
const selectArrowPx = 20;

/**
 * Beyond the edge of the screen and of nothing that scrolls; a text that its box cuts without saying so; a chosen name
 * that is longer than its list; tabs in two lines. Empty where nothing is wrong.
 */
export async function layoutFaults(page: Page): Promise<string[]> {
  return (await page.evaluate(`(() => {
    const screenPx = document.documentElement.clientWidth;
    const faults = new Set();
    const isHiding = (element) => getComputedStyle(element).overflowX !== 'visible';
    const named = (element) =>
      element.tagName.toLowerCase() + '.' + [...element.classList].join('.') + ' "' +
      (element.textContent ?? '').trim().slice(0, 40) + '"';
    const hasHidingParent = (element) => {
      for (let one = element.parentElement; one && one !== document.body; one = one.parentElement)
        if (isHiding(one)) return true;
      return false;
    };
    const isSeen = (element) =>
      element.checkVisibility({ visibilityProperty: true }) &&
      !element.closest('.unseen, .skip, svg, [inert]');
    const hasText = (element) =>
      [...element.childNodes].some((one) => one.nodeType === 3 && one.data.trim() !== '');
    const pen = document.createElement('canvas').getContext('2d');
    const checkSelect = (element, style) => {
      pen.font = style.font;
      const text = element.selectedOptions[0]?.textContent ?? '';
      const padding = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
      const roomPx = element.clientWidth - padding - ${selectArrowPx};
      if (pen.measureText(text).width > roomPx + 1) faults.add('cut in its list: "' + text + '"');
    };
    const checkTabs = (element) => {
      const tops = [...element.children].map((one) => one.getBoundingClientRect().top);
      if (Math.max(...tops) - Math.min(...tops) > 12) faults.add('tabs in lines: ' + named(element));
    };
    for (const element of document.body.querySelectorAll('*')) {
      const { left, right, width, height } = element.getBoundingClientRect();
      if (width === 0 || height === 0 || !isSeen(element)) continue;
      const style = getComputedStyle(element);
      const isOut = right > screenPx + 1 || left < -1;
      if (isOut && !hasHidingParent(element)) faults.add('off the screen: ' + named(element));
      const isCut = element.scrollWidth > element.clientWidth + 1 && style.overflowX === 'hidden';
      if (isCut && hasText(element) && style.textOverflow !== 'ellipsis')
        faults.add('cut: ' + named(element));
      if (element.tagName === 'SELECT') checkSelect(element, style);
      if (element.matches('.segments, .tabs') && element.children.length > 1) checkTabs(element);
    }
    return [...faults];
  })()`)) as string[];
}

/** Each menu of the page, opened: that its list is on the screen. It is closed again. */
export async function menuFaults(page: Page): Promise<string[]> {
  const faults: string[] = [];
  const lists = page.locator('.menu-list');
  for (const button of await page.locator('button[aria-haspopup=menu]:visible').all()) {
    await button.press('Enter');
    await lists.waitFor();
    const name = await lists.getAttribute('aria-label');
    const isWhole = await page.evaluate(`(() => {
      const { left, right } = document.querySelector('.menu-list').getBoundingClientRect();
      return left >= 0 && right <= document.documentElement.clientWidth;
    })()`);
    if (!isWhole) faults.push(`a menu is off the screen: ${name}`);
    await lists.press('Escape');
    await lists.waitFor({ state: 'detached' });
  }
  return faults;
}
