// JSON of the Connect router as callers expect it: a list in an answer is there when it is empty, and a request that is
// no JSON is told where. Protobuf's JSON leaves empty lists out, with all other values that are zero.

import type { DescMethod, JsonReadOptions, JsonWriteOptions } from '@bufbuild/protobuf';
import { Code, ConnectError, type ConnectRouter } from '@connectrpc/connect';
import { jsonFault } from '../../json-fault.ts';

type RouterOptions = NonNullable<Parameters<ConnectRouter['rpc']>[2]>;
/** Connect's options, and the two that its types leave out. */
type JsonOptions = Partial<JsonReadOptions & JsonWriteOptions> & {
  textDecoder?: { decode(bytes?: Uint8Array): string };
  textEncoder?: { encode(text?: string): Uint8Array };
};

/** A router that registers at `router`, in which all methods have this JSON. `base`: the JSON options of the router. */
export function withPlainJson(router: ConnectRouter, base: JsonOptions | undefined): ConnectRouter {
  const optionsFor = (
    lists: readonly string[],
    options: RouterOptions | undefined,
  ): RouterOptions => ({
    ...options,
    jsonOptions: plainJson(lists, { ...base, ...options?.jsonOptions }),
  });
  const { handlers } = router;
  const plain: ConnectRouter = {
    handlers,
    rpc(method, implementation, options) {
      router.rpc(method, implementation, optionsFor(listsOf(method), options));
      return plain;
    },
    service(service, implementation, options) {
      const first = handlers.length;
      router.service(service, implementation, optionsFor([], options));
      for (const [index, method] of service.methods.entries()) {
        const lists = listsOf(method);
        if (lists.length === 0) continue;
        // Options are a whole service's: it is registered once more, and one handler of it taken.
        const before = handlers.length;
        router.service(service, implementation, optionsFor(lists, options));
        const [handler] = handlers.splice(before).slice(index, index + 1);
        if (handler?.method !== method) throw new Error(`${method.name} was not registered`);
        handlers[first + index] = handler;
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

/** `lists`: the names of the lists that answers hold. */
function plainJson(lists: readonly string[], options: JsonOptions): JsonOptions {
  const { textDecoder = new TextDecoder(), textEncoder = new TextEncoder() } = options;
  return {
    ...options,
    textDecoder: {
      decode(bytes = new Uint8Array()) {
        refuseFault(bytes);
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
  if (fault === undefined) return;
  throw new ConnectError(`body: must be valid JSON, ${fault}`, Code.InvalidArgument);
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
