// Reads the content types of requests. Which types a method takes is its route's decision.

/** `charset=utf-8` in any spelling: in quotes, in capitals, with spaces. JSON is always UTF-8, so it adds nothing. */
const charset = String.raw`[ \t]*;[ \t]*charset=(?:utf-?8|"utf-?8")[ \t]*`;

const json = new RegExp(`^application/json(?:${charset})?$`, 'i');
const plainText = new RegExp(`^text/plain(?:${charset})?$`, 'i');
const withCharset = new RegExp(String.raw`^([\w.+/-]+)${charset}$`, 'i');

// Each expression takes time that grows with the length alone.

/** Whether it is application/json, with that charset or without one. */
export function isJson(contentType: string): boolean {
  return json.test(contentType);
}

/** Whether it is text/plain, with that charset or without one. */
export function isPlainText(contentType: string): boolean {
  return plainText.test(contentType);
}

/** The type without its charset, where that is UTF-8. */
export function withoutCharset(contentType: string): string {
  const [, type] = withCharset.exec(contentType) ?? [];
  return type ?? contentType;
}
