// How texts of binary protobuf are read in this process. protobuf-es would drop a leading U+FEFF and, unless told
// otherwise, put U+FFFD in the place of bytes that are no UTF-8: a text must come through as it was sent or be refused.

import { configureTextEncoding, getTextEncoding } from '@bufbuild/protobuf/wire';

/** To be called once, before the first message is read. */
export function configureProtobufText(): void {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  configureTextEncoding({ ...getTextEncoding(), decodeUtf8: (bytes) => decoder.decode(bytes) });
}
