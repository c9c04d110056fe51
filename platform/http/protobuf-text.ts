// Makes protobuf-es read texts as they were sent, or refuse them. By default it drops a leading U+FEFF and replaces
// bytes that are not UTF-8 with U+FFFD.

import { configureTextEncoding, getTextEncoding } from '@bufbuild/protobuf/wire';

/** Must run once, before the first message is read. */
export function configureProtobufText(): void {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  configureTextEncoding({ ...getTextEncoding(), decodeUtf8: (bytes) => decoder.decode(bytes) });
}
