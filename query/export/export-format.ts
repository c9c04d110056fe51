// The formats of an export: how the engine writes each, what it may be packed by, and what it is called over HTTP.

import { pipeline } from 'node:stream';
import { createGzip } from 'node:zlib';

export interface ExportFormat {
  /** The engine's name. */
  engine: string;
  contentType: string;
  extension: string;
  /** Names of compressions, the usual one first. */
  compressions: readonly string[];
}

/**
 * Arrow is not packed unless asked: apache-arrow for JavaScript reads neither of its two codecs. Parquet always packs
 * inside of the file, so that readers of a part read a part.
 */
export const exportFormats = {
  ndjson: {
    engine: 'JSONEachRow',
    contentType: 'application/x-ndjson',
    extension: 'ndjson',
    compressions: ['none', 'gzip'],
  },
  csv: {
    engine: 'CSVWithNames',
    contentType: 'text/csv; charset=utf-8; header=present',
    extension: 'csv',
    compressions: ['none', 'gzip'],
  },
  parquet: {
    engine: 'Parquet',
    contentType: 'application/vnd.apache.parquet',
    extension: 'parquet',
    compressions: ['zstd', 'snappy', 'lz4', 'gzip', 'none'],
  },
  arrow: {
    engine: 'ArrowStream',
    contentType: 'application/vnd.apache.arrow.stream',
    extension: 'arrows',
    compressions: ['none', 'lz4', 'zstd'],
  },
} as const satisfies Record<string, ExportFormat>;

export type FormatName = keyof typeof exportFormats;

export interface FileForm {
  format: FormatName;
  /** One of the format's. */
  compression: string;
}

export function isFormatName(name: string): name is FormatName {
  return Object.hasOwn(exportFormats, name);
}

const MiB = 1_048_576;

/** The engine's settings for a file of the format. */
export function formatSettings({
  format,
  compression,
}: FileForm): Readonly<Record<string, string | number>> {
  switch (format) {
    case 'ndjson':
      return {
        date_time_output_format: 'iso',
        // Readers in JavaScript would round them.
        output_format_json_quote_64bit_integers: 1,
        output_format_json_escape_forward_slashes: 0,
      };
    case 'csv':
      return { date_time_output_format: 'iso', format_csv_null_representation: '' };
    case 'parquet':
      return {
        output_format_parquet_compression_method: compression,
        // DuckDB 1.5 does not find ids that are there by the engine's Bloom filters.
        output_format_parquet_write_bloom_filter: 0,
        // A group of rows is held until it is written.
        output_format_parquet_row_group_size: 100_000,
        output_format_parquet_row_group_size_bytes: 64 * MiB,
      };
    case 'arrow':
      return {
        output_format_arrow_compression_method: compression === 'lz4' ? 'lz4_frame' : compression,
      };
    default:
      return format satisfies never;
  }
}

/** Texts are packed on the way, the other formats inside of the file. */
export function packsOnTheWay({ format, compression }: FileForm): boolean {
  return (format === 'ndjson' || format === 'csv') && compression === 'gzip';
}

/** A third of the usual level's CPU, for a tenth more bytes. */
const gzipLevel = 2;

/** Ends as `bytes` end: an error of theirs is thrown, and the gzip is not whole. */
export function gzipped(bytes: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  return pipeline(bytes, createGzip({ level: gzipLevel }), () => {});
}
