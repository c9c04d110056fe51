// Calls any method of the definitions as a customer: for tests that hold all of them to one rule.

import { create, type DescMethod, type DescService, toJsonString } from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import { ConnectError } from '@connectrpc/connect';
import { type AccountsProcess, bearer } from './accounts.ts';

interface Asked {
  caller: { accessToken: string };
  service: DescService;
  method: DescMethod;
  /** Named wherever header and request may name one. */
  orgId: string;
  projectId: string;
}

/** All that the method says as JSON, or its error's code and message; the project's id is PROJECT in it. */
export async function answerOf(
  accounts: Pick<AccountsProcess, 'client'>,
  { caller, service, method, orgId, projectId }: Asked,
): Promise<string> {
  const client: Record<string, (request: object) => unknown> = accounts.client(
    service,
    bearer(caller, projectId),
  );
  const request = reflect(method.input, create(method.input));
  for (const field of method.input.fields) {
    if (field.fieldKind === 'scalar' && field.name === 'org_id') request.set(field, orgId);
    if (field.fieldKind === 'scalar' && field.name === 'project_id') request.set(field, projectId);
  }
  const text = (message: unknown) =>
    toJsonString(method.output, create(method.output, Object(message)));
  const said: string[] = [];
  try {
    const answer = client[method.localName]?.(request.message);
    if (isStream(answer)) for await (const one of answer) said.push(text(one));
    else said.push(text(await answer));
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    said.push(`${code} ${rawMessage}`);
  }
  return said.join('\n').replaceAll(projectId, 'PROJECT');
}

function isStream(answer: unknown): answer is AsyncIterable<unknown> {
  return typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;
}
