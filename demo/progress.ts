// The progress of a command: a bar that is drawn over itself on a terminal, otherwise a line every tenth.

export interface Progress {
  /** `detail` is a short text behind the bar. */
  show(done: number, detail: string): void;
  /** Ends the bar's line. */
  end(): void;
}

const barCharacters = 30;
const redrawMs = 100;

/** `total` is undefined where nobody knows it: then only the count so far is shown. */
export function createProgress(out: NodeJS.WriteStream, total: number | undefined): Progress {
  return out.isTTY ? barOn(out, total) : linesOn(out, total);
}

function barOn(out: NodeJS.WriteStream, total: number | undefined): Progress {
  let drawnMs = Number.NEGATIVE_INFINITY;
  let last = '';
  const draw = (line: string): void => {
    out.write(`\r${line}\u001b[K`);
    drawnMs = performance.now();
  };
  return {
    show(done, detail) {
      last = `${barText(done, total)} ${detail}`;
      if (performance.now() - drawnMs >= redrawMs) draw(last);
    },
    end() {
      draw(last);
      out.write('\n');
    },
  };
}

function linesOn(out: NodeJS.WriteStream, total: number | undefined): Progress {
  let shownTenths = 0;
  return {
    show(done, detail) {
      const tenths =
        total === undefined ? Math.floor(done / 10_000) : Math.floor((10 * done) / total);
      if (tenths <= shownTenths) return;
      shownTenths = tenths;
      out.write(`${total === undefined ? count(done) : `${Math.min(10, tenths)}0%`} ${detail}\n`);
    },
    end() {},
  };
}

function barText(done: number, total: number | undefined): string {
  if (total === undefined) return count(done);
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const full = Math.round(share * barCharacters);
  const bar = '█'.repeat(full) + '░'.repeat(barCharacters - full);
  return `${bar} ${String(Math.floor(share * 100)).padStart(3)}%`;
}

/** 1234567 as 1,234,567. Without Intl, whose first number takes a command a tenth of its start. */
export function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
