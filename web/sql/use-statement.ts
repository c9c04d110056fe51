// A statement that runs: one at a time of a page, ended where the reader cancels it or leaves.

import { useEffect, useRef, useState } from 'preact/hooks';
import { type Answer, runStatement } from './statement-client.ts';
import { StatementFailure } from './statement-failure.ts';

export type RunState =
  | { kind: 'none' }
  | { kind: 'running' }
  | { kind: 'cancelled' }
  | { kind: 'answered'; answer: Answer }
  /** Of the text that was run: its place stands in this text. */
  | { kind: 'failed'; failure: StatementFailure; sql: string };

/** `paramsOf`: what a text's parameters stand for. `onAnswer` hears of each statement that was answered. */
export function useStatement(
  projectId: string,
  paramsOf: (sql: string) => Record<string, string>,
  onAnswer: (sql: string, answer: Answer) => void,
) {
  const [state, setState] = useState<RunState>({ kind: 'none' });
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), [projectId]);
  const run = async (sql: string): Promise<void> => {
    if (running.current !== undefined || sql.trim() === '') return;
    const end = new AbortController();
    running.current = end;
    setState({ kind: 'running' });
    try {
      const answer = await runStatement(projectId, sql, end.signal, paramsOf(sql));
      if (end.signal.aborted) return;
      setState({ kind: 'answered', answer });
      onAnswer(sql, answer);
    } catch (cause) {
      if (end.signal.aborted) return;
      const failure =
        cause instanceof StatementFailure
          ? cause
          : new StatementFailure('engine', 'The answer cannot be read.');
      setState({ kind: 'failed', failure, sql });
    } finally {
      if (running.current === end) running.current = undefined;
    }
  };
  const cancel = (): void => {
    running.current?.abort();
    running.current = undefined;
    setState({ kind: 'cancelled' });
  };
  return { state, run, cancel };
}
