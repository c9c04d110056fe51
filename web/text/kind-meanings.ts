// What the kinds of events mean that the snippet sends by itself, for those who choose one. What a site sends of its
// own has the meaning that its name says.

const meanings: Readonly<Record<string, string>> = {
  page_view: 'A page was opened',
  page_leave: 'A page was left: how long it was read, and how far',
  outbound_click: 'A link to another site was clicked',
  file_downloaded: 'A link to a file was clicked',
};

/** undefined for kinds that sites name themselves. */
export function meaningOf(kind: string): string | undefined {
  return Object.hasOwn(meanings, kind) ? meanings[kind] : undefined;
}
