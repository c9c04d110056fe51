// The messages between the service and the process that checks or imports one file.

import { fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import {
  type Import,
  type ImportProgress,
  ImportProgressSchema,
  type ImportReport,
  ImportReportSchema,
  ImportSchema,
} from '../../proto/gen/dashboard/imports/v1/imports_pb.js';
import { fieldOf } from '../json.ts';

/** What the process shall do. */
export interface ImportJob {
  record: Import;
  /** Of the file on disk. */
  path: string;
  /** Keeps visitors of access logs the same from file to file, and from their addresses apart. */
  secret: string;
  /** Absent where the file is only checked. */
  target: { baseUrl: string; privateKey: string } | undefined;
}

/** What the process says. */
export type ImportNews =
  | { kind: 'progress'; progress: ImportProgress }
  | { kind: 'done'; family: string; report: ImportReport }
  | { kind: 'failed'; why: string };

export function jobMessage({ record, ...rest }: ImportJob): object {
  return { ...rest, record: toJson(ImportSchema, record) };
}

export function newsMessage(news: ImportNews): object {
  switch (news.kind) {
    case 'progress':
      return { ...news, progress: toJson(ImportProgressSchema, news.progress) };
    case 'done':
      return { ...news, report: toJson(ImportReportSchema, news.report) };
    case 'failed':
      return news;
    default:
      return news satisfies never;
  }
}

/** Throws where it is no job. */
export function readJob(message: unknown): ImportJob {
  const target = fieldOf(message, 'target');
  return {
    record: fromJson(ImportSchema, jsonIn(message, 'record')),
    path: textIn(message, 'path'),
    secret: textIn(message, 'secret'),
    target:
      target === undefined
        ? undefined
        : { baseUrl: textIn(target, 'baseUrl'), privateKey: textIn(target, 'privateKey') },
  };
}

/** Throws where it is no news. */
export function readNews(message: unknown): ImportNews {
  const kind = fieldOf(message, 'kind');
  switch (kind) {
    case 'progress':
      return { kind, progress: fromJson(ImportProgressSchema, jsonIn(message, 'progress')) };
    case 'done': {
      const report = fromJson(ImportReportSchema, jsonIn(message, 'report'));
      return { kind, family: textIn(message, 'family'), report };
    }
    case 'failed':
      return { kind, why: textIn(message, 'why') };
    default:
      throw new Error(`an import's process says ${String(kind)}`);
  }
}

function textIn(message: unknown, name: string): string {
  const value = fieldOf(message, name);
  if (typeof value !== 'string') throw new Error(`${name} is no text`);
  return value;
}

/** The channel of a child process carries JSON: what came by it is JSON again. */
function jsonIn(message: unknown, name: string): JsonValue {
  return JSON.parse(JSON.stringify(fieldOf(message, name) ?? null));
}
