// Corrects faults of protobuf-es in JSON, where Connect lets a method decode and encode its own text, so that the
// corrections hold for every protocol. Writing, it loses a map's key "__proto__" and the sign of -0. What it takes
// wrongly, reading, is checked for every method by platform/http/bodies/strict-json.ts.

import { randomUUID } from 'node:crypto';

/** Texts that a JSON answer holds in place of values that would be lost; `answerOptions` puts the real text back. */
export interface JsonStandIns {
  /** A key that stands for "__proto__". */
  protoKey: string;
  /** A stringValue that stands for the doubleValue -0. */
  negativeZero: string;
}

// Each process draws its own and never shows it, so that no stored text can equal it.
const mark = randomUUID();
export const jsonStandIns: JsonStandIns = {
  protoKey: `__proto__${mark}`,
  negativeZero: `-0${mark}`,
};

/** For the registration of a method that answers with stored values. */
export const answerOptions = {
  jsonOptions: { ignoreUnknownFields: true, textEncoder: { encode } },
};

function encode(text = ''): Uint8Array<ArrayBuffer> {
  const whole = text.includes(mark)
    ? text
        .replaceAll(`"${jsonStandIns.protoKey}":`, '"__proto__":')
        .replaceAll(`{"stringValue":"${jsonStandIns.negativeZero}"}`, '{"doubleValue":-0}')
    : text;
  return new TextEncoder().encode(whole);
}
