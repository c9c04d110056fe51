// What a method of the management interface is: its route, who may call it, the schemas of its request and answer, and
// its code. Routing, checks and the published document all read it; none of them knows a method by name.

import type { Place, Role } from '../../../platform/access/organizations.ts';
import type { ManagementParts } from '../management-parts.ts';
import { requireValue } from '../schema/check-value.ts';
import type { AnySchema, ObjectSchema, Schema, ValueOf } from '../schema/schema.ts';

/** A key or a customer with a role in the organization of the request. */
export interface Caller extends Pick<Place, 'projectIds'> {
  /** The key's or the customer's. */
  id: string;
  organizationId: string;
}

/** `change`: limited like changes of accounts; `read`: like reads; `free`: revocations and open pages. */
export type Rate = 'change' | 'read' | 'free';

interface Described {
  /** The method's name in the published document. */
  name: string;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** A segment in braces is a parameter. */
  path: string;
  summary: string;
  /** The least role in the organization; absent, everybody may call. */
  role?: Role;
  /** A customer whose address is not proven may not call: what it leaves behind sends events or opens them. */
  needsProof?: true;
  rate: Rate;
}

/** The values of a path's parameters by name. */
export type PathValues = Readonly<Record<string, string>>;

/** A request as the route has read it; the operation checks it. */
export interface RequestParts {
  path: PathValues;
  query: unknown;
  body: unknown;
  /** Aborts when nobody waits for the answer any more. */
  gone: AbortSignal;
}

interface Received<Query, Body> {
  /** Empty where the path has no such parameter. */
  organizationId: string;
  webhookId: string;
  deliveryId: string;
  query: ValueOf<Query>;
  body: ValueOf<Body>;
  gone: AbortSignal;
}

interface Definition<
  Query extends ObjectSchema,
  Body extends ObjectSchema,
  Answer extends ObjectSchema | AnySchema,
> extends Described {
  query?: Query;
  body?: Body;
  status: 200 | 201 | 202 | 204;
  /** Absent for an answer without a body. */
  answer?: Answer;
  /** Statuses beside those that follow from the rest: 409 where it changes records, 504 where it reads the log. */
  refusals?: readonly (409 | 504)[];
  run(parts: ManagementParts, received: Received<Query, Body>): Promise<ValueOf<Answer>>;
}

export interface Operation extends Described {
  query: ObjectSchema | undefined;
  body: ObjectSchema | undefined;
  status: number;
  answer: Schema | undefined;
  /** Of all refusals, in rising order. */
  refusals: readonly number[];
  /** Throws invalid_argument where the query or the body breaks its schema. */
  run(parts: ManagementParts, request: RequestParts): Promise<unknown>;
}

const nothing = {
  ...{ type: 'object', properties: {}, required: [] },
  additionalProperties: false,
} as const satisfies ObjectSchema;

/** Binds a method's code to its schemas: it sees only requests that they allow. */
export function operation<
  const Query extends ObjectSchema = typeof nothing,
  const Body extends ObjectSchema = typeof nothing,
  const Answer extends ObjectSchema | AnySchema = typeof nothing,
>(definition: Definition<Query, Body, Answer>): Operation {
  const { query: querySchema, body: bodySchema, answer, run, refusals, ...described } = definition;
  return {
    ...described,
    query: querySchema,
    body: bodySchema,
    answer,
    refusals: refusalsOf(definition),
    async run(parts, { path, query, body, gone }) {
      requireSchema<Query>(querySchema, query);
      requireSchema<Body>(bodySchema, body);
      return run(parts, {
        organizationId: path['organization_id'] ?? '',
        webhookId: path['webhook_id'] ?? '',
        deliveryId: path['delivery_id'] ?? '',
        query,
        body,
        gone,
      });
    },
  };
}

function requireSchema<S extends ObjectSchema>(
  schema: S | undefined,
  value: unknown,
): asserts value is ValueOf<S> {
  requireValue(schema ?? nothing, value, '');
}

function refusalsOf(
  definition: Pick<
    Definition<ObjectSchema, ObjectSchema, ObjectSchema>,
    'body' | 'role' | 'rate' | 'refusals'
  >,
): number[] {
  const { body, role, rate, refusals = [] } = definition;
  // 400: every method refuses query parameters that it does not know.
  const statuses = new Set<number>([400, ...refusals]);
  if (body !== undefined) statuses.add(415);
  // 403: a viewer's methods, too, where the organization asks for a second factor.
  if (role !== undefined) for (const status of [401, 403, 404, 500, 503]) statuses.add(status);
  if (rate !== 'free') statuses.add(429);
  return [...statuses].sort((a, b) => a - b);
}
