// The newest statements of each project, for whoever wants to know what a tool of theirs sends: in this process alone,
// bounded, and gone with it.

import { setBounded } from '../../../platform/memory/bounded-map.ts';

export interface LoggedStatement {
  /** ISO. */
  time: string;
  queryId: string;
  /** The record of the key, or the customer's; never the key. */
  keyId: string;
  /** Its first characters. */
  statement: string;
  format: string;
  durationMs: number;
  /** Of the answer, before it was packed. */
  bytes: number;
  /** 0 where it was answered. */
  code: number;
  /** Empty where it was answered. */
  error: string;
}

/** 200 projects with 50 statements of 2,000 characters: 40 MB at the most, were each of them so long. */
const maxProjects = 200;
const maxOfProject = 50;
const maxCharacters = 2_000;

export class StatementLog {
  readonly #ofProject = new Map<string, LoggedStatement[]>();

  add(projectId: string, logged: LoggedStatement): void {
    const known = this.#ofProject.get(projectId) ?? [];
    this.#ofProject.delete(projectId);
    const statement = logged.statement.slice(0, maxCharacters);
    const error = logged.error.slice(0, maxCharacters);
    const kept = [{ ...logged, statement, error }, ...known].slice(0, maxOfProject);
    setBounded(this.#ofProject, projectId, kept, maxProjects);
  }

  /** Newest first. */
  of(projectId: string): readonly LoggedStatement[] {
    return this.#ofProject.get(projectId) ?? [];
  }
}
