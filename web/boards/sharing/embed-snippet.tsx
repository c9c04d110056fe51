// The line of HTML that shows a shared board on another site.

import { useState } from 'preact/hooks';
import { Select } from '../../fields/field.tsx';
import { Code } from '../../ui/copy.tsx';

const themes = [
  { value: 'auto', name: 'As the reader’s system says' },
  { value: 'light', name: 'Light' },
  { value: 'dark', name: 'Dark' },
] as const;

type FrameTheme = (typeof themes)[number]['value'];

export function EmbedSnippet({ link, title }: { link: string; title: string }) {
  const [theme, setTheme] = useState<FrameTheme>('auto');
  const source = theme === 'auto' ? link : `${link}?theme=${theme}`;
  const snippet =
    `<iframe src="${source}" title="${escaped(title)}" loading="lazy"` +
    ' width="100%" height="800" style="border: 0"></iframe>';
  return (
    <>
      <Select label="Theme of the frame" value={theme} options={themes} onValue={setTheme} />
      <Code what="Snippet" text={snippet} />
    </>
  );
}

/** As the value of an attribute in double quotes. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
