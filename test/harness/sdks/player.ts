// A program or page in which one vendor's SDK plays, behind a gate of its own, for a customer of its own.

import { compatFamilies } from '../../../platform/compat/compat-families.ts';
import { eventually, type StoredEvent } from '../clients/client.ts';
import { type Customer, newCustomer } from '../clients/new-customer.ts';
import { type Gate, startGate } from '../servers/gate.ts';
import { type Stack, startStack } from '../servers/stack.ts';

export interface Player {
  sdk: string;
  customer: Customer;
  gate: Gate;
  /**
   * Has the SDK track an event. Resolves once the SDK says what became of it, or has nothing to say; a promise of its
   * own, because that may take as long as the service is away.
   */
  track(event: string): Promise<void>;
  /** Tracks `last`, has the SDK send what it still has, and ends the program, or leaves the page and opens it again. */
  end(): Promise<void>;
}

/** What `npm start` runs. On a busy machine a start takes longer than connections wait by default. */
export function startPlayedStack(): Promise<Stack> {
  return startStack({ isKept: true, env: { MILLRACE_PUBLISH_DEADLINE_MS: '120000' } });
}

export interface Stage {
  customer: Customer;
  gate: Gate;
}

/** A project that takes all families, and a gate in front of the service. */
export async function setStage(baseUrl: string): Promise<Stage> {
  const customer = await newCustomer(baseUrl);
  await switchOnFamilies(customer);
  return { customer, gate: await startGate(baseUrl) };
}

export async function switchOnFamilies(customer: Customer): Promise<void> {
  const compat = { families: compatFamilies };
  await customer.call('dashboard.projects.v1.ProjectsService/Update', { compat });
}

/** Resolves once a request of the family was refused. */
export async function refusedRequest(customer: Customer): Promise<void> {
  const method = 'shared.activity.v1.ActivityService/IngestHealth';
  await eventually(
    async () => JSON.stringify((await customer.call(method, {})).body),
    (health) => health.includes('compat_off'),
  );
}

/** Once events of all these kinds are stored. */
export function storedKinds(customer: Customer, kinds: readonly string[]): Promise<StoredEvent[]> {
  return eventually(
    () => customer.events(),
    (events) => kinds.every((kind) => events.some((event) => event['kind'] === kind)),
  );
}
