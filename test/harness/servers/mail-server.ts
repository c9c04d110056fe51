// A real mail server for one test: it keeps the mails that it was sent, and fails like mail servers do.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface ReceivedMail {
  from: string;
  to: string[];
  text: string;
  secure: boolean;
  user: string | undefined;
}

export interface TestMailServer {
  port: number;
  /** Connections so far. */
  connections(): number;
  received: ReceivedMail[];
  close(): Promise<void>;
}

export interface MailServerOptions extends SMTPServerOptions {
  login?: { username: string; password: string };
  /** Called before each message is taken; an error refuses it. */
  onMessage?: (count: number) => Promise<void> | void;
}

export async function startMailServer(options: MailServerOptions = {}): Promise<TestMailServer> {
  const { login, onMessage, ...rest } = options;
  const received: ReceivedMail[] = [];
  let [connections, messages] = [0, 0];
  const server = new SMTPServer({
    authOptional: login === undefined,
    logger: false,
    disableReverseLookup: true,
    onConnect: (_session, callback) => {
      connections++;
      callback();
    },
    onAuth: ({ username, password }, _session, callback) => {
      const good = username === login?.username && password === login?.password;
      if (good) callback(null, { user: username });
      else callback(new Error('Invalid username or password'));
    },
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', async () => {
        try {
          await onMessage?.(++messages);
        } catch (error) {
          return callback(error instanceof Error ? error : new Error(String(error)));
        }
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString('utf8'),
          secure: session.secure,
          user: session.user,
        });
        callback();
      });
    },
    ...rest,
  });
  server.on('error', () => {
    // Some tests close the connection early.
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const address = server.server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    connections: () => connections,
    received,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** A new key with a certificate that it signed itself, for localhost and 127.0.0.1 or for other names. */
export function selfSigned(names = 'DNS:localhost,IP:127.0.0.1'): { key: string; cert: string } {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-cert-'));
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext'];
  const kind = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
  ];
  const files = ['-keyout', key, '-out', cert];
  execFileSync(
    'openssl',
    ['req', '-x509', ...kind, ...subject, `subjectAltName=${names}`, ...files],
    {
      stdio: 'ignore',
    },
  );
  const pair = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(directory, { recursive: true });
  return pair;
}

/** A server's refusal of a message, with SMTP's number. */
export function smtpRefusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
