// Where the focus goes from a chip that is taken away: the browser would leave it nowhere.

/**
 * Focuses the × of the next chip in the row, else that of the one before, else the row's last button that adds one.
 * Called before the chip goes. The × of bots is none of them: pressed again, it would turn what was not meant.
 */
export function focusNextChip(pressed: HTMLElement): void {
  const row = pressed.closest('.chip')?.parentElement;
  const all = [...(row?.querySelectorAll<HTMLElement>('.chip > [aria-label^="Remove:"]') ?? [])];
  const place = all.indexOf(pressed);
  const add = [...(row?.querySelectorAll<HTMLElement>('button.quiet') ?? [])].at(-1);
  (all[place + 1] ?? all[place - 1] ?? add)?.focus();
}
