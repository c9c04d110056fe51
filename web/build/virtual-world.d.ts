// What world-map.ts makes.

declare module 'virtual:world' {
  export const viewBox: string;
  /** A path for each alpha-2 code; codes that begin with "-" are areas without one. */
  export const countries: Record<string, string>;
}
