// Why a bucket did not do what was asked, in words for whoever set it up. Of an answer only the status and the code of
// its error are told: an endpoint inside the operator's network is nobody's to read.

/** The message is a sentence's beginning without a full stop; it names no secret. */
export class StoreFailure extends Error {
  /** 0 without an answer. */
  readonly status: number;
  /** The answer's own word; empty without one. */
  readonly code: string;

  constructor(message: string, { status = 0, code = '', ...options }: FailureOptions = {}) {
    super(message, options);
    this.status = status;
    this.code = code;
  }

  /** S3 answers so to a look at a file that is not there, where the key may not list the bucket. */
  get mayBeAbsence(): boolean {
    return this.status === 403 && (this.code === '' || this.code === 'AccessDenied');
  }
}

interface FailureOptions extends ErrorOptions {
  status?: number;
  code?: string;
}

export type StoreAction = 'write' | 'read' | 'delete';

/** Of S3's error codes, those that say what is to be done about them. */
const words: Readonly<Record<string, string>> = {
  SignatureDoesNotMatch: 'the secret access key is not the one of the access key id',
  InvalidAccessKeyId: 'the access key id is not known there',
  NoSuchBucket: 'there is no such bucket',
  PermanentRedirect: 'the bucket is in another region or at another endpoint',
  TemporaryRedirect: 'the bucket is in another region or at another endpoint',
  AuthorizationHeaderMalformed: 'the region is not the one of the bucket',
  RequestTimeTooSkewed: "this machine's clock is off",
  SlowDown: 'the endpoint asks to slow down',
  EntityTooLarge: 'the file is larger than the endpoint takes',
  XAmzContentSHA256Mismatch: 'the bytes arrived otherwise than they were sent',
};

/** `text`: the beginning of the answer's body. */
export function refusedBy(action: StoreAction, status: number, text: string): StoreFailure {
  const code = /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(text)?.[1] ?? '';
  const known = Object.hasOwn(words, code) ? words[code] : undefined;
  const failure = (message: string) => new StoreFailure(message, { status, code });
  const said = code === '' ? String(status) : `${status} ${code}`;
  if (known !== undefined) return failure(`${known} (${said})`);
  if (status === 403) return failure(`the key may not ${action} files there (${said})`);
  if (status >= 300 && status < 400) {
    return failure(`the bucket is in another region or at another endpoint (${said})`);
  }
  return failure(`the endpoint refused to ${action} a file (${said})`);
}

const timeoutCodes = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);

/** Whatever else went wrong on the way. An opened network is not told of: see webhooks' `withoutDetail`. */
export function brokenOff(error: unknown, isUnreached: boolean, isTimeout: boolean): StoreFailure {
  if (error instanceof StoreFailure) return error;
  const code = error instanceof Error ? String(Reflect.get(error, 'code') ?? '') : '';
  if (isTimeout || timeoutCodes.has(code)) {
    return new StoreFailure('the endpoint did not answer in time', { cause: error });
  }
  return isUnreached
    ? new StoreFailure(
        'no connection to the endpoint came about: is its address right, and public?',
        {
          cause: error,
        },
      )
    : new StoreFailure('the connection to the endpoint broke off', { cause: error });
}
