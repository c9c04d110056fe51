// The questions of one caller that belong together, such as those of a board's tiles, and what they found out: what was
// stored and the types of their properties are looked up once, and a statement that answers several of them runs
// once, also while events come in.

import { ConnectError } from '@connectrpc/connect';
import type { QueryRequest } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { shareEngineTime } from '../../calls/engine-time.ts';
import type { PropertyTypes } from '../read/property-types.ts';
import { type Question, readQuestion } from '../read/question.ts';
import type { InsightRows, Stored } from './insight-runs.ts';

export class AskedTogether {
  readonly stored = new Found<Stored>('again');
  readonly types = new Found<ReadonlyMap<string, PropertyTypes> | undefined>('again');
  /** A statement that needs too much would need it again for each question that it answers. */
  readonly rows = new Found<InsightRows>('once');
  readonly #requests: readonly QueryRequest[];
  #questions: readonly Question[] | undefined;

  /** All that will be asked, of one project; empty for a question on its own. */
  constructor(requests: readonly QueryRequest[] = []) {
    this.#requests = requests;
  }

  /** Without those that are refused, which whoever asks them is told. */
  questions(projectId: string): readonly Question[] {
    this.#questions ??= this.#requests.flatMap((request) => readIfValid(projectId, request));
    return this.#questions;
  }
}

/** What was found for each key when it was first asked for. */
class Found<T> {
  readonly #found = new Map<string, { result: Promise<T>; signal: AbortSignal }>();
  readonly #afterFailure: 'again' | 'once';

  /** Whether what failed is looked for again, or fails for all who ask. */
  constructor(afterFailure: 'again' | 'once') {
    this.#afterFailure = afterFailure;
  }

  /** `signal` ends whoever asks, and `look` where they ask first. */
  get(key: string, signal: AbortSignal, look: () => Promise<T>): Promise<T> {
    const known = this.#found.get(key);
    if (known !== undefined) {
      shareEngineTime(signal, known.signal);
      return known.result;
    }
    const result = look();
    this.#found.set(key, { result, signal });
    result.catch(() => {
      if (this.#afterFailure === 'again') this.#found.delete(key);
    });
    return result;
  }
}

function readIfValid(projectId: string, request: QueryRequest): Question[] {
  try {
    return [readQuestion(projectId, request)];
  } catch (error) {
    if (error instanceof ConnectError) return [];
    throw error;
  }
}
