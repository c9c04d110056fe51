// The moments of access logs in milliseconds since the epoch; undefined for a text that is none.

const months = 'JanFebMarAprMayJunJulAugSepOctNovDec';
const commonTime =
  /^(\d{2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}):(\d{2}):(\d{2})(?:\.(\d{3}))?(?: ([+-])(\d{2})(\d{2}))?$/;
const isoTime =
  /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:Z|([+-])(\d{2}):?(\d{2}))?$/;

/** `17/May/2015:10:05:03 +0000`, also with milliseconds, or as RFC 3339 has it. Without a zone it is UTC. */
export function logTimeMs(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const common = commonTime.exec(text);
  if (common !== null) {
    const month = months.indexOf(common[2] ?? '') / 3;
    return Number.isInteger(month) && month >= 0
      ? momentOf([common[3], month, common[1], ...common.slice(4, 7)], common.slice(7))
      : undefined;
  }
  const iso = isoTime.exec(text);
  if (iso === null) return undefined;
  return momentOf([iso[1], Number(iso[2]) - 1, ...iso.slice(3, 7)], iso.slice(7));
}

function momentOf(
  parts: readonly (string | number | undefined)[],
  [fraction, sign, zoneHours, zoneMinutes]: readonly (string | undefined)[],
): number | undefined {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.map(Number);
  if (month > 11 || hour > 23 || minute > 59 || second > 60) return undefined;
  if (new Date(Date.UTC(year, month, day)).getUTCDate() !== day) return undefined;
  const milli = Number((fraction ?? '').padEnd(3, '0').slice(0, 3));
  const utc = Date.UTC(year, month, day, hour, minute, second, milli);
  const zoneMs = (Number(zoneHours ?? 0) * 60 + Number(zoneMinutes ?? 0)) * 60_000;
  return sign === '-' ? utc + zoneMs : utc - zoneMs;
}
