// Recognises the member names of the definitions, in both styles. A name of 8 to 16 bytes is known by its first and its
// last eight bytes, read as little-endian numbers: two comparisons, no loop. Each constant has its text beside it.

import {
  fieldAutoProperties,
  fieldCookieless,
  fieldCustomProperties,
  fieldDistinctId,
  fieldEventId,
  fieldKind,
  fieldOccurTime,
  fieldSessionId,
  variantBool,
  variantDouble,
  variantInt,
  variantString,
  variantTimestamp,
} from '../codes.ts';

/** The bit that `eventMember` and `propertyMember` set for a name in snake_case. */
const snakeCase: i32 = 32;
export const nameMask: i32 = 31;

function ends(start: usize, length: usize, first: u64, last: u64): bool {
  return load<u64>(start) === first && load<u64>(start + length - 8) === last;
}

/** The field of an event's member, with `snakeCase` where the name is; 0 where the name is unknown. */
export function eventMember(start: usize, length: usize): i32 {
  switch (<i32>length) {
    case 4: // kind
      return load<u32>(start) === 0x646e696b ? fieldKind : 0;
    case 7: // eventId
      return (load<u64>(start) & 0x00ff_ffff_ffff_ffff) === 0x0064_4974_6e65_7665
        ? fieldEventId
        : 0;
    case 8: // event_id
      return load<u64>(start) === 0x6469_5f74_6e65_7665 ? fieldEventId | snakeCase : 0;
    case 9: // sessionId, occurTime
      if (ends(start, 9, 0x496e_6f69_7373_6573, 0x6449_6e6f_6973_7365)) return fieldSessionId;
      return ends(start, 9, 0x6d69_5472_7563_636f, 0x656d_6954_7275_6363) ? fieldOccurTime : 0;
    case 10: // distinctId, session_id, occur_time, cookieless
      if (ends(start, 10, 0x7463_6e69_7473_6964, 0x6449_7463_6e69_7473)) return fieldDistinctId;
      if (ends(start, 10, 0x5f6e_6f69_7373_6573, 0x6469_5f6e_6f69_7373)) {
        return fieldSessionId | snakeCase;
      }
      if (ends(start, 10, 0x6974_5f72_7563_636f, 0x656d_6974_5f72_7563)) {
        return fieldOccurTime | snakeCase;
      }
      return ends(start, 10, 0x656c_6569_6b6f_6f63, 0x7373_656c_6569_6b6f) ? fieldCookieless : 0;
    case 11: // distinct_id
      return ends(start, 11, 0x7463_6e69_7473_6964, 0x6469_5f74_636e_6974)
        ? fieldDistinctId | snakeCase
        : 0;
    case 14: // autoProperties
      return ends(start, 14, 0x706f_7250_6f74_7561, 0x7365_6974_7265_706f)
        ? fieldAutoProperties
        : 0;
    case 15: // auto_properties
      return ends(start, 15, 0x6f72_705f_6f74_7561, 0x7365_6974_7265_706f)
        ? fieldAutoProperties | snakeCase
        : 0;
    case 16: // customProperties
      return ends(start, 16, 0x7250_6d6f_7473_7563, 0x7365_6974_7265_706f)
        ? fieldCustomProperties
        : 0;
    case 17: // custom_properties, whose ninth byte is in neither end
      return ends(start, 17, 0x705f_6d6f_7473_7563, 0x7365_6974_7265_706f) &&
        load<u8>(start + 8) === 0x72
        ? fieldCustomProperties | snakeCase
        : 0;
    default:
      return 0;
  }
}

/** The variant of a PropertyValue's member, with `snakeCase` where the name is; 0 where the name is unknown. */
export function propertyMember(start: usize, length: usize): i32 {
  switch (<i32>length) {
    case 8: // intValue
      return load<u64>(start) === 0x6575_6c61_5674_6e69 ? variantInt : 0;
    case 9: // boolValue, int_value
      if (ends(start, 9, 0x756c_6156_6c6f_6f62, 0x6575_6c61_566c_6f6f)) return variantBool;
      return ends(start, 9, 0x756c_6176_5f74_6e69, 0x6575_6c61_765f_746e)
        ? variantInt | snakeCase
        : 0;
    case 10: // bool_value
      return ends(start, 10, 0x6c61_765f_6c6f_6f62, 0x6575_6c61_765f_6c6f)
        ? variantBool | snakeCase
        : 0;
    case 11: // stringValue, doubleValue
      if (ends(start, 11, 0x6156_676e_6972_7473, 0x6575_6c61_5667_6e69)) return variantString;
      return ends(start, 11, 0x6156_656c_6275_6f64, 0x6575_6c61_5665_6c62) ? variantDouble : 0;
    case 12: // string_value, double_value
      if (ends(start, 12, 0x765f_676e_6972_7473, 0x6575_6c61_765f_676e)) {
        return variantString | snakeCase;
      }
      return ends(start, 12, 0x765f_656c_6275_6f64, 0x6575_6c61_765f_656c)
        ? variantDouble | snakeCase
        : 0;
    case 14: // timestampValue
      return ends(start, 14, 0x6d61_7473_656d_6974, 0x6575_6c61_5670_6d61) ? variantTimestamp : 0;
    case 15: // timestamp_value
      return ends(start, 15, 0x6d61_7473_656d_6974, 0x6575_6c61_765f_706d)
        ? variantTimestamp | snakeCase
        : 0;
    default:
      return 0;
  }
}

/** Whether the name is `events`. */
export function isEvents(start: usize, length: usize): bool {
  return length === 6 && (load<u64>(start) & 0x0000_ffff_ffff_ffff) === 0x0000_7374_6e65_7665;
}

/** Whether the name is `$ip`. */
export function isIp(start: usize, length: usize): bool {
  return length === 3 && (load<u32>(start) & 0x00ff_ffff) === 0x0070_6924;
}

/** Whether the name is `$bot_score` or `$verified_bot`. */
export function isBotSignal(start: usize, length: usize): bool {
  if (length === 10) return ends(start, 10, 0x6f63_735f_746f_6224, 0x6572_6f63_735f_746f);
  return length === 13 && ends(start, 13, 0x6569_6669_7265_7624, 0x746f_625f_6465_6966);
}

/** Whether the text starts with `cookieless-`. */
export function startsCookieless(start: usize, length: usize): bool {
  return (
    length >= 11 &&
    load<u64>(start) === 0x656c_6569_6b6f_6f63 &&
    (load<u32>(start + 8) & 0x00ff_ffff) === 0x002d_7373
  );
}

/** Whether the text starts with `svc.`. */
export function startsReserved(start: usize, length: usize): bool {
  return length >= 4 && load<u32>(start) === 0x2e63_7673;
}
