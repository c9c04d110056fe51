// The oracle's answer to a question, whatever its form.

import type { Question } from '../questions/question.ts';
import { funnelAnswer } from './funnel.ts';
import { leftOut } from './left-out.ts';
import { lifecycleAnswer, stickinessAnswer } from './lifecycle.ts';
import type { Part } from './part.ts';
import { retentionAnswer } from './retention.ts';
import { revenueAnswer } from './revenue.ts';
import { averagedAnswer } from './statement/averaged.ts';
import { questionBefore } from './statement/compared.ts';
import type { Tables } from './tables.ts';
import { topAnswer } from './top.ts';
import { segmentationAnswer, trendsAnswer } from './trends.ts';
import { userFlowAnswer } from './user-flow.ts';
import { visitsAnswer } from './visits.ts';

/** `untilMs`: all that was accepted before is in the tables. */
export async function oracleAnswer(
  tables: Tables,
  question: Question,
  untilMs: number,
): Promise<Part> {
  if (question.compare !== undefined) return comparedAnswer(tables, question, untilMs);
  if (question.movingAverage !== undefined) {
    return averagedAnswer(tables, question, (asked) => oracleAnswer(tables, asked, untilMs));
  }
  const part = await resultOf(tables, question, untilMs);
  const events = await leftOut(tables, question);
  const all = { ...events, ...part.leftOut };
  const counted = Object.entries(all).filter(([, count]) => count !== 0);
  return { result: part.result, leftOut: Object.fromEntries(counted) };
}

async function comparedAnswer(tables: Tables, question: Question, untilMs: number): Promise<Part> {
  const { compare: _, ...own } = question;
  const { compare: __, ...before } = await questionBefore(tables, question);
  const { result, leftOut: counts } = await oracleAnswer(tables, own, untilMs);
  const previous = await oracleAnswer(tables, before, untilMs);
  return { result: { ...result, previous }, leftOut: counts };
}

function resultOf(tables: Tables, question: Question, untilMs: number): Promise<Part> {
  if (question.session !== undefined) return visitsAnswer(tables, question, untilMs);
  switch (question.type) {
    case 'TRENDS':
      return trendsAnswer(tables, question, untilMs);
    case 'SEGMENTATION':
      return segmentationAnswer(tables, question);
    case 'REVENUE':
      return revenueAnswer(tables, question, untilMs);
    case 'FUNNEL':
      return funnelAnswer(tables, question);
    case 'RETENTION':
      return retentionAnswer(tables, question, untilMs);
    case 'USER_FLOW':
      return userFlowAnswer(tables, question);
    case 'TOP_K':
      return topAnswer(tables, question);
    case 'LIFECYCLE':
      return lifecycleAnswer(tables, question, untilMs);
    case 'STICKINESS':
      return stickinessAnswer(tables, question, untilMs);
    default: {
      const unknown: never = question.type;
      throw new Error(`no such question: ${String(unknown)}`);
    }
  }
}
