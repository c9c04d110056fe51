// The HTML of a report, for mail programs: tables and styles in the elements, no image, nothing from elsewhere, bars of
// coloured cells. Programs that know the reader's colour scheme get dark colours by a style that others leave out.

import { escapeHtml } from '../../platform/mail/texts/compose-mail.ts';
import type { Cell, Change, ReportPart, Row } from '../content/report-part.ts';

const font = 'font-family:Helvetica,Arial,sans-serif';
// Those of the pages.
const ink = '#1b1d1f';
const faint = '#565b5f';
const line = '#e2e2dc';
const bar = '#0b7a6f';
const border = `border-bottom:1px solid ${line}`;
const rowStyle = `font-size:14px;line-height:18px;color:${ink};${font}`;

/** `preheader`: what lists of mails show beside the subject. */
export function htmlPage(options: {
  title: string;
  preheader: string;
  blocks: readonly string[];
}): string {
  const { title, preheader, blocks } = options;
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="supported-color-schemes" content="light dark">',
    '<meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">',
    `<title>${escapeHtml(title)}</title>`,
    '<style>@media (prefers-color-scheme:dark){',
    '.page,.card{background:#121416!important}.ink,.ink a{color:#eceeed!important}',
    '.faint,.faint a{color:#a5adb1!important}.line{border-color:#2c3135!important}',
    '.good{color:#62cc8c!important}.bad{color:#ff8a80!important}}</style></head>',
    `<body class="page" style="margin:0;padding:0;background:#f7f7f4;${font}">`,
    `<div style="display:none;max-height:0;overflow:hidden">${escapeHtml(preheader)}</div>`,
    '<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr>',
    '<td align="center" style="padding:16px 8px">',
    '<table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" ',
    'style="max-width:640px;background:#ffffff"><tr><td style="padding:20px 20px 24px">',
    ...blocks,
    '</td></tr></table></td></tr></table></body></html>',
    '',
  ].join('\n');
}

export function htmlHead(title: string, lines: readonly string[]): string {
  const rest = lines.map((text) => faintLine(text, 'font-size:14px'));
  const style = `margin:0 0 4px;font-size:22px;line-height:28px;color:${ink}`;
  return [`<h1 class="ink" style="${style}">${escapeHtml(title)}</h1>`, ...rest].join('\n');
}

export function htmlButton(label: string, link: string): string {
  const href = escapeHtml(link);
  const style =
    'display:inline-block;padding:10px 16px;background:#0b6b62;color:#ffffff;' +
    'font-size:14px;text-decoration:none;border-radius:6px';
  return `<p style="margin:12px 0"><a href="${href}" style="${style}">${escapeHtml(label)}</a></p>`;
}

export function htmlNote(text: string): string {
  return faintLine(text, 'font-size:13px;line-height:18px');
}

/** `after` is a link below the text. */
export function htmlFoot(lines: readonly string[], after: { label: string; link: string }): string {
  const style = `border-top:1px solid ${line};margin-top:24px;padding-top:12px`;
  const href = escapeHtml(after.link);
  const link = `<a href="${href}" style="color:${faint}">${escapeHtml(after.label)}</a>`;
  const linked = `<p class="faint" style="margin:8px 0 0;font-size:13px;color:${faint}">${link}</p>`;
  return [`<div class="line" style="${style}">`, ...lines.map(htmlNote), linked, '</div>'].join(
    '\n',
  );
}

export function htmlPart(part: ReportPart): string {
  const { title, notes } = part;
  const style = `margin:24px 0 6px;font-size:16px;line-height:20px;color:${ink}`;
  const head = title === '' ? [] : [`<h2 class="ink" style="${style}">${escapeHtml(title)}</h2>`];
  return [...head, contentOf(part), ...notes.map(htmlNote)].join('\n');
}

function contentOf(part: ReportPart): string {
  switch (part.kind) {
    case 'figures':
      return part.rows.map((row) => htmlFigure(row, part.rows.length > 1)).join('\n');
    case 'table':
      return part.rows.length === 0 ? htmlNote('Nothing happened.') : htmlTable(part);
    case 'text': {
      const text = part.text.split('\n').map(escapeHtml).join('<br>');
      return `<p class="ink" style="margin:0;font-size:14px;line-height:20px;color:${ink}">${text}</p>`;
    }
    default:
      return part satisfies never;
  }
}

function htmlFigure({ name, cells }: Row, isNamed: boolean): string {
  const [cell] = cells;
  if (cell === undefined) return '';
  const label = isNamed
    ? `<span class="faint" style="color:${faint}">${escapeHtml(name)} </span>`
    : '';
  const value = `<strong style="font-size:22px">${escapeHtml(cell.text)}</strong>`;
  const style = `margin:0;font-size:14px;line-height:28px;color:${ink}`;
  return `<p class="ink" style="${style}">${label}${value} ${htmlChange(cell.change)}</p>`;
}

function htmlTable({ title, heads, rows }: ReportPart & { kind: 'table' }): string {
  const named = heads.some((head) => head !== '');
  const th = (text: string) =>
    `<th align="right" class="faint" style="padding:4px 0 4px 12px;font-size:12px;color:${faint}">${escapeHtml(text)}</th>`;
  const head = named ? [`<tr><th></th>${heads.map(th).join('')}</tr>`] : [];
  const label = escapeHtml(title);
  return [
    `<table class="ink" width="100%" cellpadding="0" cellspacing="0" aria-label="${label}" style="${rowStyle}">`,
    ...head,
    ...rows.map(htmlRow),
    '</table>',
  ].join('\n');
}

function htmlRow({ name, cells, share }: Row): string {
  const drawn = share === undefined ? '' : htmlBar(share);
  const first = `<td class="line" style="padding:5px 0;${border}">${escapeHtml(name)}${drawn}</td>`;
  return `<tr>${first}${cells.map(htmlCell).join('')}</tr>`;
}

function htmlCell({ text, change }: Cell): string {
  const style = `padding:5px 0 5px 12px;white-space:nowrap;${border}`;
  const shown = change === undefined ? '' : `<br>${htmlChange(change)}`;
  return `<td align="right" valign="top" class="line" style="${style}">${escapeHtml(text)}${shown}</td>`;
}

function htmlBar(share: number): string {
  const width = Math.round(share * 100);
  if (width === 0) return '';
  const style = `background:${bar};height:5px;line-height:5px;font-size:1px`;
  return (
    '<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr>' +
    `<td width="${width}%" bgcolor="${bar}" style="${style}">&nbsp;</td><td></td></tr></table>`
  );
}

function htmlChange(change: Change | undefined): string {
  if (change === undefined) return '';
  const { isGood } = change;
  const [tone, color] =
    isGood === undefined ? ['faint', faint] : isGood ? ['good', '#176b3a'] : ['bad', '#b3261e'];
  const style = `font-size:12px;color:${color}`;
  return `<span class="${tone}" style="${style}">${escapeHtml(change.text)}</span>`;
}

function faintLine(text: string, style: string): string {
  return `<p class="faint" style="margin:4px 0 0;${style};color:${faint}">${escapeHtml(text)}</p>`;
}
