// Makes the mail of a report for one recipient. Its words are the same in HTML and in plain text, and its length has a
// bound: Gmail cuts a message off at 102 kB.

import type { MailContent } from '../../platform/mail/texts/compose-mail.ts';
import { nameInMail } from '../../platform/mail/texts/name-in-mail.ts';
import type { AnsweredStatement } from '../../platform/reports/rendered-period.ts';
import type { SharedTile } from '../../proto/gen/public/dashboards/v1/shared_dashboards_pb.js';
import { partOfTile } from '../content/part-of-tile.ts';
import type { ReportPart } from '../content/report-part.ts';
import { htmlButton, htmlFoot, htmlHead, htmlNote, htmlPage, htmlPart } from './mail-html.ts';
import { textPart } from './mail-text.ts';

export interface ReportContent {
  /** As people typed them. */
  reportName: string;
  projectName: string;
  organizationName: string;
  boardName: string;
  /** Such as "Saturday 28 November 2026". */
  period: string;
  /** "the day before", "the week before", "the month before". */
  comparedWith: string;
  tiles: readonly SharedTile[];
  /** By the ids of their tiles; none for strangers. */
  statements?: ReadonlyMap<string, AnsweredStatement>;
  isIncomplete: boolean;
  /** Earlier ones that are not sent any more. */
  leftOut: number;
  isTest: boolean;
  /** For members. */
  boardUrl: string | undefined;
  unsubscribeUrl: string;
}

/** With its head and its foot at most 90,000 bytes. */
const maxPartsBytes = 80_000;

export function reportMail(content: ReportContent): MailContent {
  const { boardUrl, unsubscribeUrl, isTest, period } = content;
  const name = nameInMail(content.reportName, 'report');
  const project = nameInMail(content.projectName, 'a project');
  const organization = nameInMail(content.organizationName, 'an organization');
  const parts = content.tiles.flatMap(
    (tile) => partOfTile(tile, content.statements?.get(tile.id)) ?? [],
  );
  const shown = partsWithRoom(parts);
  const notes = notesOf(content, parts.length - shown.length);
  const about = [`${nameInMail(content.boardName, 'Board')} of ${project}, ${period}`];
  const compared = `Changes are against ${content.comparedWith}.`;
  const foot = [
    isTest
      ? 'This is a test of the report: nobody else got it.'
      : `You get this mail because ${organization} sends you the report ${name}.`,
  ];
  const stop = { label: 'Unsubscribe', link: unsubscribeUrl };
  const nothing = shown.length === 0 ? ['The board is empty.'] : [];
  const text = [
    [name, ...about, ...(boardUrl === undefined ? [] : [boardUrl])].join('\n'),
    ...[...notes, compared, ...nothing],
    ...shown.map(({ part }) => textPart(part)),
    [...foot, `${stop.label}: ${stop.link}`].join('\n'),
  ].join('\n\n');
  const html = htmlPage({
    title: name,
    preheader: about.join(', '),
    blocks: [
      htmlHead(name, about),
      ...(boardUrl === undefined ? [] : [htmlButton('Open the board', boardUrl)]),
      ...[...notes, compared, ...nothing].map(htmlNote),
      ...shown.map(({ html }) => html),
      htmlFoot(foot, stop),
    ],
  });
  const subject = `${isTest ? 'Test: ' : ''}${name} of ${project}, ${period}`;
  return { subject, text: `${text}\n`, html, unsubscribeUrl };
}

function notesOf({ isIncomplete, leftOut }: ReportContent, partsLeft: number): string[] {
  return [
    ...(isIncomplete
      ? ['Not all events of this time were counted when this mail was made: figures may grow.']
      : []),
    ...(leftOut > 0
      ? [
          `${leftOut === 1 ? 'One earlier report was' : `${leftOut} earlier reports were`} left out, because the service could not send ${leftOut === 1 ? 'it' : 'them'} in time.`,
        ]
      : []),
    ...(partsLeft > 0 ? [`${partsLeft} more parts have no room here: they are on the board.`] : []),
  ];
}

/** The first ones that fit, each with its HTML. */
function partsWithRoom(parts: readonly ReportPart[]): { part: ReportPart; html: string }[] {
  const shown: { part: ReportPart; html: string }[] = [];
  let bytes = 0;
  for (const part of parts) {
    const html = htmlPart(part);
    bytes += Buffer.byteLength(html);
    if (bytes > maxPartsBytes) break;
    shown.push({ part, html });
  }
  return shown;
}
