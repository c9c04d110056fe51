// What icons/icons.ts makes.

declare module 'virtual:icons' {
  /** A part of each file's name. */
  export const version: string;
  /** By group: the values that have an icon, with a space between them. */
  export const names: Record<string, string>;
}
