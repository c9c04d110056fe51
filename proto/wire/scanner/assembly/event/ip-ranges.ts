// Lists the places of `$ip` values in the body, so that they are overwritten before the body is written anywhere.

import { flagIpOverflow, ipRanges, maxIpRanges, resultFlags, resultIpCount } from '../layout.ts';

/** Notes the value between two addresses. */
export function noteIp(start: usize, end: usize): void {
  const count = load<u32>(resultIpCount);
  if (count === maxIpRanges) {
    store<u32>(resultFlags, load<u32>(resultFlags) | flagIpOverflow);
    return;
  }
  store<u32>(ipRanges + (count << 3), <u32>start);
  store<u32>(ipRanges + (count << 3), <u32>end, 4);
  store<u32>(resultIpCount, count + 1);
}
