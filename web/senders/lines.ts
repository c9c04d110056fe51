// A list as the text of a field: one a line.

export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

export function textOfLines(lines: readonly string[]): string {
  return lines.join('\n');
}
