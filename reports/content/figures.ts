// Figures as a mail writes them, in one language.

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });

/** How the values of a question are written. */
export type WriteFigure = (value: number) => string;

/** In full: 12,345 or 0.25. */
export function figure(value: number): string {
  return (Number.isInteger(value) ? whole : fine).format(value);
}

/** `share` of 1: 0.253 is 25%, 0.0253 is 2.5%. */
export function percent(share: number): string {
  const digits = share !== 0 && Math.abs(share) < 0.0995 ? 1 : 0;
  return `${(share * 100).toFixed(digits)}%`;
}

/** 4.2 s, 3 min 20 s, 5 h 3 min. */
export function seconds(value: number): string {
  if (value < 9.95) return `${value.toFixed(1)} s`;
  const all = Math.round(value);
  if (all < 60) return `${all} s`;
  const minutes = Math.floor(all / 60);
  if (minutes < 60) return `${minutes} min ${all % 60} s`;
  return `${whole.format(Math.floor(minutes / 60))} h ${minutes % 60} min`;
}

export interface Change {
  /** "+12%", "−5%", "±0%". */
  text: string;
  direction: 'up' | 'down' | 'same';
}

/** Against the period before; undefined where there was nothing to compare with. */
export function changeOf(now: number, before: number | undefined): Change | undefined {
  if (before === undefined || before === 0) return undefined;
  const share = (now - before) / Math.abs(before);
  if (share === 0) return { text: '±0%', direction: 'same' };
  const text = `${share > 0 ? '+' : '−'}${percent(Math.abs(share))}`;
  return { text, direction: share > 0 ? 'up' : 'down' };
}
