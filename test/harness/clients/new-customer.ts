// A new customer of the running product with a project, and what a page of the product reads of it: events, persons.

import { randomUUID } from 'node:crypto';
import type { StoredEvent } from './client.ts';

export interface Customer {
  email: string;
  /** The public key of the customer's project. */
  key: string;
  /** With which the customer reads the project. */
  headers: { authorization: string; 'x-project-id': string };
  /** Calls a method as the customer: `shared.activity.v1.ActivityService/List`. */
  call(method: string, message: object): Promise<CustomerAnswer>;
  /** The newest hundred events of the project. */
  events(): Promise<StoredEvent[]>;
  /** The traits of a person; undefined where there is no such person. */
  traitsOf(externalId: string): Promise<Record<string, unknown> | undefined>;
}

interface CustomerAnswer {
  status: number;
  body: Record<string, unknown>;
}

export async function newCustomer(baseUrl: string): Promise<Customer> {
  const send = async (method: string, message: object, headers: Record<string, string>) => {
    const response = await fetch(`${baseUrl}/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(message),
    });
    const answer: CustomerAnswer = {
      status: response.status,
      body: JSON.parse(await response.text()),
    };
    return answer;
  };
  const credentials = { email: `${randomUUID()}@example.com`, password: randomUUID() };
  const signed = await send('public.auth.v1.AuthService/SignUp', credentials, {});
  const authorization = `Bearer ${signed.body['accessToken']}`;
  const projects = 'dashboard.projects.v1.ProjectsService';
  const listed = await send(`${projects}/List`, {}, { authorization });
  const [project] = listed.body['projects'] as { id: string }[];
  const headers = { authorization, 'x-project-id': project?.id ?? '' };
  const call: Customer['call'] = (method, message) => send(method, message, headers);
  const keys = await call(`${projects}/ListApiKeys`, {});
  const [key] = keys.body['apiKeys'] as { key: string }[];
  return {
    email: credentials.email,
    key: key?.key ?? '',
    headers,
    call,
    async events() {
      const { body } = await call('shared.activity.v1.ActivityService/List', {});
      return (body['events'] ?? []) as StoredEvent[];
    },
    async traitsOf(externalId) {
      const method = 'shared.profiles.v1.ProfilesService/GetByExternalId';
      const { status, body } = await call(method, { externalId });
      if (status !== 200) return undefined;
      const { properties } = body['profile'] as { properties?: Record<string, unknown> };
      return properties ?? {};
    },
  };
}
