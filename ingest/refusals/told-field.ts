// The field of a refusal as it is told: a name within it that may be a value, such as an address that somebody used as
// a key, is left out. The sender's own answer has it.

const plainName = /^[\p{L}_$][\p{L}\p{N}_$. -]*$/u;

/** `customProperties["plan"].intValue` as it is; `customProperties["ada@example.com"]` as `customProperties[]`. */
export function toldField(field: string): string {
  if (plainName.test(field)) return field;
  const [, map = field, key, variant = ''] = /^(\w+)\["(.*)"\](.*)$/s.exec(field) ?? [];
  const toldMap = told(map);
  if (key === undefined) return toldMap;
  const toldKey = told(key);
  return `${toldMap}[${toldKey === '' ? '' : `"${toldKey}"`}]${told(variant.slice(1), '.')}`;
}

function told(name: string, before = ''): string {
  return plainName.test(name) ? `${before}${name}` : '';
}
