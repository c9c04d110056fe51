// After a while without an event: what usually is the reason, the likeliest first, and how to see that it is.

import type { ComponentChildren } from 'preact';
import { Code } from '../ui/copy.tsx';
import type { Progress } from './progress.ts';

const local = /^(localhost|127\.|\[::1\])/;

export function LikelyFaults({ publicKey, progress }: { publicKey: string; progress: Progress }) {
  const { origin, host, protocol } = window.location;
  const isLocal = local.test(host);
  return (
    <div class="setup-faults">
      <h3>{progress.request ? 'No event was accepted yet' : 'No request came for 20 seconds'}</h3>
      <p class="hint">
        {progress.request
          ? 'A request came and was refused: its rule is above. The page that sends it has the fault.'
          : 'Open your page’s developer tools: console and network show which of these it is.'}
      </p>
      <ul>
        {progress.preflight && !progress.request ? (
          <Fault name="Only a preflight">
            A browser asked by <code>OPTIONS</code> and was answered. It may have been another
            project’s page: that request has no key. Your page’s network list shows what followed.
            Nothing: the console says why, such as a header that is not allowed, or a proxy that
            drops the <code>access-control</code> headers of the answer. A request answered 401: its
            key is another.
          </Fault>
        ) : null}
        {isLocal ? (
          <Fault name={`Your page cannot reach ${host}`}>
            That address means the visitor’s own machine. It works for pages that you open here; for
            others the service needs a public address, and this page has to be opened by it.
          </Fault>
        ) : null}
        {protocol === 'http:' && !isLocal ? (
          <Fault name="Your page is https, this address is not">
            Browsers block http requests of https pages. Put a proxy with TLS before the service.
          </Fault>
        ) : null}
        <Fault name="Another key">
          A request with an unknown or revoked key is answered 401 (503 to posthog-js) and belongs
          to no project, so it cannot be shown here. The page must have exactly{' '}
          <code class="setup-key">{publicKey}</code>.
        </Fault>
        <Fault name="The page’s content security policy">
          The console says that it refused to load the script or to connect. Add:
          <Code text={`script-src ${origin}; connect-src ${origin}`} what="The policy" />
        </Fault>
        <Fault name="An ad blocker">
          The network list shows the request as blocked. Try a window without extensions; then move
          the paths with <code>MILLRACE_SCRIPT_PATHS</code> and <code>MILLRACE_COLLECT_PATH</code>,
          or serve them through your own site.
        </Fault>
        <Fault name="No consent">
          With <code>data-consent="denied"</code> nothing is sent until the page calls{' '}
          <code>millrace.consent</code>.
        </Fault>
      </ul>
    </div>
  );
}

function Fault({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <li>
      <strong>{name}</strong>
      <div class="hint">{children}</div>
    </li>
  );
}
