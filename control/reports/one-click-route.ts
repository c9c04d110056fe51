// POST to the address of a report's link, as mail programs send it for their button "unsubscribe" (RFC 8058): the
// recipient gets the report no more. A GET is the web app's page, which changes nothing by itself.

import type { ServerResponse } from 'node:http';
import { Code, ConnectError } from '@connectrpc/connect';
import { type CallerRequest, peerAddressOf } from '../../platform/http/caller-request.ts';
import type { NodeHttpRoute } from '../../platform/http/http.ts';
import type { Log } from '../../platform/log.ts';
import type { Attempts } from '../auth/attempts.ts';
import { answerMailedReport, type MailedReportDeps } from './mailed-report-rpc.ts';

export interface OneClickDeps extends MailedReportDeps {
  attempts: Pick<Attempts, 'call'>;
  log: Log;
}

const folder = '/r/';

export function createOneClickRoute(
  deps: OneClickDeps,
  addressOf: (request: CallerRequest) => string | undefined,
): NodeHttpRoute {
  return (request, response, { path }, bodies) => {
    if (request.method !== 'POST' || !path.startsWith(folder)) return false;
    // The address says all; the body is the same in each such request.
    bodies.answerUnread(request);
    const caller = { headers: request.headers, peerAddress: peerAddressOf(request.socket) };
    void unsubscribe(deps, path.slice(folder.length), addressOf(caller)).then(
      (answer) => send(response, answer),
      (error: unknown) => {
        deps.log.error({ err: error }, 'a recipient of a report could not be taken away');
        send(response, { status: 503, text: 'try again later', retryAfter: '60' });
      },
    );
    return true;
  };
}

interface Answer {
  status: number;
  text: string;
  retryAfter?: string;
}

async function unsubscribe(
  deps: OneClickDeps,
  token: string,
  address: string | undefined,
): Promise<Answer> {
  try {
    deps.attempts.call(folder, address);
    await answerMailedReport(deps, { token }, 'UNSUBSCRIBED');
    return { status: 200, text: 'you get this report no more' };
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    const retryAfter = error.metadata.get('retry-after');
    if (error.code === Code.NotFound) return { status: 404, text: error.rawMessage };
    if (retryAfter === null) throw error;
    return { status: 429, text: error.rawMessage, retryAfter };
  }
}

function send(response: ServerResponse, { status, text, retryAfter }: Answer): void {
  response.writeHead(status, {
    ...{ 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
    ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
  });
  response.end(`${text}\n`);
}
