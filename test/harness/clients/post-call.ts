// One POST to BatchCreate and its answer, reduced to the parts by which two servers are compared.

export interface Call {
  path: string;
  body: string | Uint8Array;
  headers?: Record<string, string>;
}

export interface CallAnswer {
  status: number;
  /** The JSON body; the bytes of a binary response in hex. */
  body: unknown;
}

export async function postCall(
  baseUrl: string,
  apiKey: string,
  { path, body, headers }: Call,
): Promise<CallAnswer> {
  const response = await fetch(baseUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey, ...headers },
    body,
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get('content-type') === 'application/json';
  return {
    status: response.status,
    body: isJson ? JSON.parse(bytes.toString()) : bytes.toString('hex'),
  };
}

/** An error's message; empty for a success. */
export const messageOf = ({ body }: CallAnswer): string =>
  typeof body === 'object' && body !== null && 'message' in body ? String(body.message) : '';

/** `200 ok`, or an error's status and Connect code. */
export const statusAndCode = ({ status, body }: CallAnswer): string =>
  `${status} ${typeof body === 'object' && body !== null && 'code' in body ? body.code : 'ok'}`;
