// The JSON Schema of what a method takes, made from the published definitions and their comments: an agent reads the
// same words as a person, and a field that is added is known to both at once.

import {
  createFileRegistry,
  type DescEnum,
  type DescField,
  type DescFile,
  type DescMessage,
  fromBinary,
  type Registry,
  ScalarType,
} from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';

export interface JsonSchema {
  [keyword: string]: unknown;
}

/** Field numbers of protobuf's descriptors, by which a comment's place in its file is told. */
const inFile = { message: 4, enum: 5 };
const inMessage = { field: 2, message: 3, enum: 4 };
const inEnum = { value: 2 };

/** Of the well-known messages that JSON writes in a form of their own. */
const wellKnown = new Map<string, JsonSchema>([
  ['google.protobuf.Timestamp', { type: 'string', format: 'date-time' }],
  ['google.protobuf.Duration', { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?s$' }],
  ['google.protobuf.Struct', { type: 'object' }],
]);

/** The definitions that the service publishes, with the comments of their fields and values. */
export class Definitions {
  readonly #registry: Registry;
  /** By the name of a field or value: `package.Message.field`. */
  readonly #comments = new Map<string, string>();

  /** `descriptors`: a binary FileDescriptorSet with its comments. */
  constructor(descriptors: Uint8Array) {
    const set = fromBinary(FileDescriptorSetSchema, descriptors);
    const registry = createFileRegistry(set);
    this.#registry = registry;
    for (const file of registry.files) this.#readComments(file);
  }

  /** Of a message by its full name; throws where there is none. */
  schemaOf(typeName: string): JsonSchema {
    const message = this.#registry.getMessage(typeName);
    if (message === undefined) throw new Error(`${typeName} is not defined`);
    const named = new Map<string, JsonSchema>();
    const schema = this.#object(message, named);
    return named.size === 0 ? schema : { ...schema, $defs: Object.fromEntries(named) };
  }

  #object(message: DescMessage, named: Map<string, JsonSchema>): JsonSchema {
    const fields = message.fields.map((field): [string, JsonSchema] => {
      const description = this.#comments.get(`${message.typeName}.${field.name}`);
      return [
        field.jsonName,
        { ...this.#field(field, named), ...(description && { description }) },
      ];
    });
    return { type: 'object', properties: Object.fromEntries(fields), additionalProperties: false };
  }

  #field(field: DescField, named: Map<string, JsonSchema>): JsonSchema {
    switch (field.fieldKind) {
      case 'list':
        return {
          type: 'array',
          items: this.#value(field.listKind, field, named),
        };
      case 'map':
        return { type: 'object', additionalProperties: this.#value(field.mapKind, field, named) };
      default:
        return this.#value(field.fieldKind, field, named);
    }
  }

  #value(
    kind: 'scalar' | 'enum' | 'message',
    { scalar, enum: ofEnum, message }: Pick<DescField, 'scalar' | 'enum' | 'message'>,
    named: Map<string, JsonSchema>,
  ): JsonSchema {
    if (kind === 'enum' && ofEnum !== undefined) return this.#enum(ofEnum);
    if (kind === 'message' && message !== undefined) return this.#reference(message, named);
    return scalarSchema(scalar);
  }

  /** The value that stands for "not given" is no value to choose. */
  #enum({ typeName, values }: DescEnum): JsonSchema {
    const chosen = values.filter(({ number }) => number !== 0);
    const told = chosen.map(({ name }) => {
      const comment = this.#comments.get(`${typeName}.${name}`);
      return comment === undefined ? name : `${name}: ${comment}`;
    });
    return { type: 'string', enum: chosen.map(({ name }) => name), description: told.join(' ') };
  }

  #reference(message: DescMessage, named: Map<string, JsonSchema>): JsonSchema {
    const { typeName } = message;
    const own = wellKnown.get(typeName);
    if (own !== undefined) return own;
    if (!named.has(typeName)) {
      // Its name first: a message may hold itself.
      named.set(typeName, {});
      named.set(typeName, this.#object(message, named));
    }
    return { $ref: `#/$defs/${typeName}` };
  }

  #readComments({ proto, messages, enums }: DescFile): void {
    const texts = new Map(
      (proto.sourceCodeInfo?.location ?? []).map(({ path, leadingComments }) => [
        path.join('.'),
        leadingComments.trim().replaceAll(/\s+/g, ' '),
      ]),
    );
    const note = (name: string, path: readonly number[]): void => {
      const text = texts.get(path.join('.'));
      if (text) this.#comments.set(name, text);
    };
    const ofEnum = ({ typeName, values }: DescEnum, path: readonly number[]): void => {
      for (const [at, { name }] of values.entries()) {
        note(`${typeName}.${name}`, [...path, inEnum.value, at]);
      }
    };
    const ofMessage = (message: DescMessage, path: readonly number[]): void => {
      for (const field of message.fields) {
        const at = message.proto.field.indexOf(field.proto);
        note(`${message.typeName}.${field.name}`, [...path, inMessage.field, at]);
      }
      for (const [at, own] of message.nestedEnums.entries()) {
        ofEnum(own, [...path, inMessage.enum, at]);
      }
      for (const own of message.nestedMessages) {
        const at = message.proto.nestedType.indexOf(own.proto);
        ofMessage(own, [...path, inMessage.message, at]);
      }
    };
    for (const [at, message] of messages.entries()) ofMessage(message, [inFile.message, at]);
    for (const [at, own] of enums.entries()) ofEnum(own, [inFile.enum, at]);
  }
}

/** Numbers of 64 bits are texts in protobuf's JSON, so that no reader rounds them. */
function scalarSchema(scalar: ScalarType | undefined): JsonSchema {
  switch (scalar) {
    case ScalarType.BOOL:
      return { type: 'boolean' };
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return { type: 'number' };
    case ScalarType.INT32:
    case ScalarType.UINT32:
    case ScalarType.SINT32:
      return { type: 'integer' };
    default:
      return { type: 'string' };
  }
}
