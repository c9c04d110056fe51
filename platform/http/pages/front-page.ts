// The address itself, for somebody who opens it: says what answers there and where to go. A page for browsers, the same
// as text for all others. Shows nothing of this installation.

import type { NodeHttpRoute } from '../http.ts';

const lines = [
  'Millrace, an analytics event service, answers here.',
  'Send events: POST /sdk.events.v1.EventsService/BatchCreate with an API key in x-api-key.',
  'Read them: POST /shared.activity.v1.ActivityService/List with a private key.',
];

/** The open pages, and their meaning. */
const links = [
  ['/descriptors.binpb', 'the definitions of all methods, as a protobuf descriptor set'],
  ['/openapi.json', "the definition of webhooks' management, as OpenAPI"],
  ['/llms.txt', 'what language models may ask, and how'],
  ['/healthz', 'whether the process lives'],
  ['/readyz', 'whether it can serve'],
];

const asText = [...lines, ...links.map(([path, meaning]) => `GET ${path}: ${meaning}`), ''].join(
  '\n',
);

const asHtml = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Millrace</title>
<h1>Millrace</h1>
${lines.map((line) => `<p>${line}</p>`).join('\n')}
<ul>
${links.map(([path, meaning]) => `<li><a href="${path}">${path}</a>: ${meaning}</li>`).join('\n')}
</ul>
</html>
`;

/** The page loads nothing, runs nothing and is shown in no frame. */
const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
};

export const frontPage: NodeHttpRoute = (request, response, { path }) => {
  if (path !== '/' || (request.method !== 'GET' && request.method !== 'HEAD')) return false;
  const isBrowser = /\btext\/html\b/.test(request.headers.accept ?? '');
  const body = isBrowser ? asHtml : asText;
  response.writeHead(200, {
    ...(isBrowser ? pageHeaders : { 'content-type': 'text/plain; charset=utf-8' }),
    'content-length': Buffer.byteLength(body),
    'x-content-type-options': 'nosniff',
    vary: 'accept',
  });
  response.end(body);
  return true;
};
