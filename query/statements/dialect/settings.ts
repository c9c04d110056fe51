// The settings that a statement may have, in the URL and in its text alike, and the bounds of those that bound it. Each
// other one is refused by its name, but for those of sessions and of writing, which have no meaning here.

import { notAllowed } from '../refusal.ts';

/** Read and left alone: drivers send them with every request. */
export const ignoredSettings: ReadonlySet<string> = new Set(
  (
    'session_id session_timeout session_check role quota_key wait_end_of_query buffer_size ' +
    'send_progress_in_http_headers http_headers_progress_interval_ms http_response_buffer_size ' +
    'cancel_http_readonly_queries_on_client_close add_http_cors_header log_queries log_comment ' +
    'client_protocol_version stacktrace mutations_sync alter_sync insert_distributed_sync insert_quorum ' +
    'select_sequential_consistency readonly'
  ).split(' '),
);

/** Whole numbers with the most that they may be; 0 or more is the most. */
export interface StatementBounds {
  seconds: number;
  rows: number;
  bytes: number;
}

const plainSettings: ReadonlySet<string> = new Set(
  (
    'limit offset session_timezone date_time_input_format date_time_output_format cast_keep_nullable ' +
    'cast_string_to_dynamic_use_inference join_use_nulls extremes result_overflow_mode group_by_use_nulls ' +
    'transform_null_in aggregate_functions_null_for_empty union_default_mode ' +
    'output_format_json_quote_64bit_integers output_format_json_quote_64bit_floats ' +
    'output_format_json_quote_denormals output_format_json_quote_decimals output_format_json_array_of_rows ' +
    'output_format_json_named_tuples_as_objects output_format_json_skip_null_value_in_named_tuples ' +
    'output_format_json_escape_forward_slashes output_format_json_validate_utf8 ' +
    'output_format_parquet_compression_method output_format_parquet_row_group_size ' +
    'output_format_parquet_string_as_string output_format_parquet_write_bloom_filter ' +
    'output_format_arrow_compression_method output_format_arrow_string_as_string ' +
    'output_format_arrow_low_cardinality_as_dictionary output_format_decimal_trailing_zeros ' +
    'output_format_write_statistics format_csv_delimiter format_csv_null_representation ' +
    'format_tsv_null_representation output_format_pretty_max_rows output_format_pretty_color ' +
    'output_format_binary_write_json_as_string'
  ).split(' '),
);
const boundOf: ReadonlyMap<string, keyof StatementBounds> = new Map([
  ['max_execution_time', 'seconds'],
  ['max_result_rows', 'rows'],
  ['max_result_bytes', 'bytes'],
]);

/** Those that a client may change. */
export const openSettings: readonly string[] = [...plainSettings, ...boundOf.keys()];

/** A short value without an expression. */
const plainValue = /^[\w +./:,;|-]{0,100}$/;

/** Puts one setting among `settings`. Throws StatementRefusal that names it. */
export function putSetting(
  settings: Map<string, string>,
  name: string,
  value: string,
  bounds: StatementBounds,
): void {
  if (ignoredSettings.has(name)) return;
  const bound = boundOf.get(name);
  if (bound !== undefined) {
    if (!/^\d{1,15}(\.\d{1,6})?$/.test(value))
      throw notAllowed(`the setting ${name} takes a number`);
    const asked = Number(value);
    settings.set(name, String(asked > 0 ? Math.min(asked, bounds[bound]) : bounds[bound]));
    return;
  }
  if (!plainSettings.has(name)) throw notAllowed(`the setting ${shown(name)} is not allowed`);
  if (!plainValue.test(value)) throw notAllowed(`the setting ${name} does not take this value`);
  if (name === 'result_overflow_mode' && value !== 'throw' && value !== 'break') {
    throw notAllowed('the setting result_overflow_mode takes throw or break');
  }
  settings.set(name, value);
}

export function shown(name: string): string {
  return name.replace(/[^\w.-]/g, '?').slice(0, 100);
}
