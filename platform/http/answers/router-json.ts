// JSON of the Connect router as callers expect it: a list in an answer is there when it is empty, and a request that is
// no JSON, nests without end, or has another shape than its method takes, is told so. Protobuf's JSON leaves empty
// lists out, with all other values that are zero.

import type { DescMethod, JsonReadOptions, JsonWriteOptions } from '@bufbuild/protobuf';
import { Code, ConnectError, type ConnectRouter } from '@connectrpc/connect';
import { ruleText } from '../../../proto/wire/rules.ts';
import { jsonFault } from '../../json-fault.ts';
import * as limits from '../../limits.ts';
import { isTooDeep } from '../bodies/json-depth.ts';
import { strictDecoder } from '../bodies/strict-json.ts';

type RouterOptions = NonNullable<Parameters<ConnectRouter['rpc']>[2]>;
/** Connect's options, and one that its types leave out. */
type JsonOptions = Partial<JsonReadOptions & JsonWriteOptions> & {
  textEncoder?: { encode(text?: string): Uint8Array };
};

/** Ingest reads their JSON itself; the router's own reading of it is what tests hold against that. */
const readByIngest: ReadonlySet<string> = new Set([
  'sdk.events.v1.BatchCreateRequest',
  'events.v1.BatchCreateRequest',
]);

/** A router that registers at `router`, in which all methods have this JSON. `base`: the JSON options of the router. */
export function withPlainJson(router: ConnectRouter, base: JsonOptions | undefined): ConnectRouter {
  const optionsFor = (method: DescMethod, options: RouterOptions | undefined): RouterOptions => ({
    ...options,
    jsonOptions: plainJson(method, { ...base, ...options?.jsonOptions }),
  });
  const { handlers } = router;
  const plain: ConnectRouter = {
    handlers,
    rpc(method, implementation, options) {
      router.rpc(method, implementation, optionsFor(method, options));
      return plain;
    },
    service(service, implementation, options) {
      const first = handlers.length;
      for (const [index, method] of service.methods.entries()) {
        // Options are a whole service's: it is registered for each method, and one handler of it taken.
        router.service(service, implementation, optionsFor(method, options));
        const [handler] = handlers.splice(first + index).slice(index, index + 1);
        if (handler?.method !== method) throw new Error(`${method.name} was not registered`);
        handlers.push(handler);
      }
      return plain;
    },
  };
  return plain;
}

function listsOf({ output }: DescMethod): string[] {
  return output.fields
    .filter(({ fieldKind }) => fieldKind === 'list')
    .map(({ jsonName }) => jsonName);
}

function plainJson(method: DescMethod, options: JsonOptions) {
  const { textEncoder = new TextEncoder() } = options;
  const lists = listsOf(method);
  const isPlain = readByIngest.has(method.input.typeName);
  const textDecoder = isPlain ? new TextDecoder() : strictDecoder(method.input);
  return {
    ...options,
    textDecoder: {
      decode(bytes = new Uint8Array()) {
        refuseFault(bytes);
        if (!isPlain && isTooDeep(bytes)) throw refused(ruleText('body_depth', limits));
        return textDecoder.decode(bytes);
      },
    },
    textEncoder:
      lists.length === 0
        ? textEncoder
        : { encode: (text = '') => textEncoder.encode(withLists(text, lists)) },
  };
}

/** A byte order mark is the decoder's to judge. */
function refuseFault(bytes: Uint8Array): void {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const fault = jsonFault(hasMark ? bytes.subarray(3) : bytes);
  if (fault !== undefined) throw refused(`must be valid JSON, ${fault}`);
}

function refused(rule: string): ConnectError {
  return new ConnectError(`body: ${rule}`, Code.InvalidArgument);
}

/** `message` is the JSON of a message, without its empty lists. */
function withLists(message: string, names: readonly string[]): string {
  const [first] = names;
  // Most lists are the first field, and most are long: that they are there is seen without parsing.
  if (names.length === 1 && message.startsWith(`{"${first}":[`)) return message;
  const values: Record<string, unknown> = JSON.parse(message);
  const missing = names.filter((name) => !Object.hasOwn(values, name));
  const shown = missing.map((name) => `"${name}":[]`).join();
  if (shown === '') return message;
  return message === '{}' ? `{${shown}}` : `{${shown},${message.slice(1)}`;
}
