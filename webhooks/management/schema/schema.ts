// The part of JSON Schema (2020-12) that the management interface describes itself with, and the TypeScript type of the
// values that a schema allows. Checking values is check-value.ts; the published document is openapi.ts.

interface Described {
  readonly description?: string;
}

export interface TextSchema extends Described {
  readonly type: 'string';
  readonly enum?: readonly string[];
  /** Lengths count code points. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** With the flag u; must take time that grows with the length alone. */
  readonly pattern?: string;
  readonly format?: 'date-time' | 'uri';
}

export interface IntegerSchema extends Described {
  readonly type: 'integer';
  readonly minimum: number;
  readonly maximum: number;
}

export interface FlagSchema extends Described {
  readonly type: 'boolean';
}

export interface ListSchema extends Described {
  readonly type: 'array';
  readonly items: Schema;
  readonly minItems?: number;
  readonly maxItems: number;
}

export interface ObjectSchema extends Described {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
  /** Absent, members that are not listed are ignored, so that later versions can add some. */
  readonly additionalProperties?: false;
  readonly minProperties?: 1;
}

/** A JSON value of any form, such as a JSON Schema. */
export interface AnySchema extends Described {
  readonly type: 'object';
  readonly additionalProperties: true;
}

export type Schema =
  | TextSchema
  | IntegerSchema
  | FlagSchema
  | ListSchema
  | ObjectSchema
  | AnySchema;

/** The values that a schema written `as const` allows. */
export type ValueOf<S> = S extends { enum: readonly (infer Text)[] }
  ? Text
  : S extends { type: 'string' }
    ? string
    : S extends { type: 'integer' }
      ? number
      : S extends { type: 'boolean' }
        ? boolean
        : S extends { type: 'array'; items: infer Item }
          ? readonly ValueOf<Item>[]
          : S extends { properties: infer Properties; required: readonly (infer Required)[] }
            ? MembersOf<Properties, Required>
            : object;

type MembersOf<Properties, Required> = {
  readonly [Name in keyof Properties as Name extends Required ? Name : never]: ValueOf<
    Properties[Name]
  >;
} & {
  readonly [Name in keyof Properties as Name extends Required ? never : Name]?: ValueOf<
    Properties[Name]
  >;
};
