// The orders of a list of profiles besides the usual one: what a profile is ordered by, as SQL, and the page token that
// carries the last profile's place. Running the statement is ordered-page.ts's.

import { checkPropertyText } from '../../platform/filters/filter-rules.ts';
import { invalidArgument, notKnown } from '../../platform/http/answers/invalid-argument.ts';
import { type ListRequest, ProfileOrder } from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { openCursor, sealCursor } from '../cursor.ts';
import type { Bindings } from '../filters/bindings.ts';
import { nameSql } from '../identity/profile-names.ts';

/** A profile's place in an order: those without a value last, then by number, then by text, then by id. */
export interface OrderPlace {
  isEmpty: boolean;
  /** The number's 64 bits as an unsigned integer: infinite ones are no JSON. */
  numberBits: bigint;
  /** The bytes of at most orderedCharacters, in hex. */
  textHex: string;
  /** 32 hex digits. */
  id: string;
}

/** SQL of one order, over the columns of everybodySql. */
export interface ProfileOrderSql {
  isEmpty: string;
  /** A Float64: moments in ms and counts are whole numbers below 2^53. */
  number: string;
  text: string;
  /** Whether it reads sums of events that profile_listing does not have. */
  readsSums: boolean;
}

/** Of a text, so many characters count: a token carries them. */
const orderedCharacters = 100;

/** Undefined for the usual order. Throws invalid_argument that names the field and its rule. */
export function readProfileOrder(
  { orderBy, ascending, orderTrait }: ListRequest,
  bindings: Bindings,
): ProfileOrderSql | undefined {
  if (orderBy !== ProfileOrder.TRAIT && orderTrait !== '') {
    throw invalidArgument('orderTrait', 'is taken with PROFILE_ORDER_TRAIT only');
  }
  switch (orderBy) {
    case ProfileOrder.UNSPECIFIED:
      if (ascending) throw invalidArgument('ascending', 'is taken with orderBy only');
      return undefined;
    case ProfileOrder.LAST_SEEN:
      return bySeen('last_seen', true);
    case ProfileOrder.FIRST_SEEN:
      return bySeen('first_seen', false);
    case ProfileOrder.TOTAL_EVENTS:
      return byCount('total_events');
    case ProfileOrder.PAGEVIEWS:
      return byCount('pageviews');
    case ProfileOrder.SESSIONS:
      return byCount('sessions');
    case ProfileOrder.NAME:
      return byText(nameSql('external_id'));
    case ProfileOrder.PLACE:
      return byText("concat(if(city != '', city, region), '\\n', country)", "'\\n'");
    case ProfileOrder.DEVICE:
      return byText(
        "concat(browser, '\\n', browser_version, '\\n', os, '\\n', device)",
        "'\\n\\n\\n'",
      );
    case ProfileOrder.TRAIT:
      checkPropertyText(orderTrait, 'orderTrait');
      return byTrait(bindings.bind('String', orderTrait));
    default:
      throw notKnown('orderBy', orderBy, 'is not an order');
  }
}

/** A profile without events was never seen. */
function bySeen(column: string, readsSums: boolean): ProfileOrderSql {
  const number = `toFloat64(toUnixTimestamp64Milli(${column}))`;
  return { isEmpty: 'NOT has_events', number, text: "''", readsSums };
}

function byCount(column: string): ProfileOrderSql {
  return { isEmpty: 'false', number: `toFloat64(${column})`, text: "''", readsSums: true };
}

function byText(text: string, empty = "''"): ProfileOrderSql {
  return {
    isEmpty: `${text} = ${empty}`,
    number: 'toFloat64(0)',
    text: orderedText(text),
    readsSums: false,
  };
}

/** Numbers come before every text: other values have an infinite number. */
function byTrait(name: string): ProfileOrderSql {
  const json = `traits[${name}]`;
  const text = `if(startsWith(${json}, '"'), JSONExtractString(${json}), ${json})`;
  const isNumber = `match(${json}, '^[-0-9]')`;
  return {
    isEmpty: `${json} IN ('', 'null')`,
    number: `if(${isNumber}, JSONExtractFloat(${json}), toFloat64('inf'))`,
    text: `if(${isNumber}, '', ${orderedText(text)})`,
    readsSums: false,
  };
}

function orderedText(text: string): string {
  return `lowerUTF8(substringUTF8(${text}, 1, ${orderedCharacters}))`;
}

/** Takes a row of: id in hex, 1 or 0 for empty, the number's bits, the text's bytes in hex. */
export function readOrderPlace(row: readonly unknown[]): OrderPlace {
  const [id, isEmpty, numberBits, textHex] = row.map(String);
  return {
    isEmpty: isEmpty === '1',
    numberBits: BigInt(numberBits ?? ''),
    textHex: textHex ?? '',
    id: id ?? '',
  };
}

/** Where the parts of a place stand in its bytes. */
const emptyAt = 0;
const numberAt = 1;
const idAt = 9;
const textAt = 25;

/** `conditions` as for encodeCursor. */
export function encodeOrderPlace(place: OrderPlace, conditions: Uint8Array): string {
  const head = Buffer.alloc(textAt);
  head[emptyAt] = place.isEmpty ? 1 : 0;
  head.writeBigUInt64BE(place.numberBits, numberAt);
  head.write(place.id, idAt, 'hex');
  return sealCursor(Buffer.concat([head, Buffer.from(place.textHex, 'hex')]), conditions);
}

/** Undefined if the token is damaged or belongs to other conditions. */
export function decodeOrderPlace(token: string, conditions: Uint8Array): OrderPlace | undefined {
  const bytes = openCursor(token, conditions);
  if (bytes === undefined || bytes.length < textAt) return undefined;
  return {
    isEmpty: bytes[emptyAt] === 1,
    numberBits: bytes.readBigUInt64BE(numberAt),
    textHex: bytes.toString('hex', textAt),
    id: bytes.toString('hex', idAt, textAt),
  };
}
