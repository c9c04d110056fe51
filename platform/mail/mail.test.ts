import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type MailServerOptions,
  selfSigned,
  smtpRefusal,
} from '../../test/harness/servers/mail-server.ts';
import { mailServerOfTest } from '../../test/harness/servers/use-servers.ts';
import { systemClock } from '../clock.ts';
import { createLog } from '../log.ts';
import { networks } from '../private-networks.ts';
import { type MailSender, type SmtpTls, smtpTransport } from './mail.ts';
import { createOutbox } from './outbox.ts';
import { createSendMail } from './send.ts';

const log = createLog('silent');
const pair = selfSigned();
const everywhere = networks(['0.0.0.0/0', '::/0']);
const mail = {
  to: 'ada@example.com',
  subject: 'Grüße',
  text: `Read this: https://example.com/${'x'.repeat(60)}\n`,
  html: '<p>Read this</p>\n',
};
const server = (options: MailServerOptions = {}) => mailServerOfTest({ ...pair, ...options });

const sendMail = createSendMail({
  clock: systemClock,
  log,
  allowedNetworks: everywhere,
  extraCertificates: pair.cert,
});

function smtp(
  port: number,
  tls: SmtpTls,
  login?: { username: string; password: string },
): MailSender {
  const transport = {
    kind: 'smtp',
    host: 'localhost',
    port,
    tls,
    ...(login && { login }),
  } as const;
  return { transport, fromAddress: 'Millrace <no-reply@example.com>', replyTo: 'help@example.com' };
}

describe('SMTP', () => {
  it('sends both parts with sender and receiver, and nothing to load', async () => {
    const { port, received } = await server();
    expect(await sendMail(smtp(port, 'starttls'), 'instance', mail)).toEqual({ kind: 'sent' });
    expect(received).toMatchObject([
      { from: 'no-reply@example.com', to: ['ada@example.com'], secure: true },
    ]);
    const text = received[0]?.text ?? '';
    expect(text).toContain('Reply-To: help@example.com');
    expect(text).toContain('Content-Type: multipart/alternative');
    expect(text).toContain(mail.text.trim());
    expect(text).toContain('<p>Read this</p>');
    expect(text).toContain('Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?=');
    expect(text).not.toMatch(/<img|http-equiv|<script/);
  });

  it.each<[SmtpTls, MailServerOptions, boolean | 'refused' | 'unavailable']>([
    ['implicit', { secure: true }, true],
    ['starttls', {}, true],
    ['starttls', { hideSTARTTLS: true, disabledCommands: ['STARTTLS'] }, 'refused'],
    ['required', { secure: true }, true],
    ['required', {}, true],
    ['required', { hideSTARTTLS: true, disabledCommands: ['STARTTLS'] }, 'refused'],
    ['opportunistic', {}, true],
    ['opportunistic', { hideSTARTTLS: true, disabledCommands: ['STARTTLS'] }, false],
  ])('TLS %s with a server of %j', async (tls, options, wanted) => {
    const { port, received } = await server(options);
    const outcome = await sendMail(smtp(port, tls), 'instance', mail);
    if (typeof wanted === 'boolean') {
      expect(outcome).toEqual({ kind: 'sent' });
      expect(received[0]?.secure).toBe(wanted);
    } else {
      expect(outcome.kind).toBe(wanted);
      expect(received).toEqual([]);
    }
  });

  it('does not send to a server with an untrusted certificate', async () => {
    const strange = await server({ ...selfSigned() });
    const outcome = await sendMail(smtp(strange.port, 'starttls'), 'instance', mail);
    expect(outcome.kind).not.toBe('sent');
    expect(strange.received).toEqual([]);
  });

  it('logs in, and reports a refused login', async () => {
    const login = { username: 'mailer', password: 'p@ss:word/%' };
    const { port, received } = await server({ login });
    expect(await sendMail(smtp(port, 'starttls', login), 'instance', mail)).toEqual({
      kind: 'sent',
    });
    expect(received[0]?.user).toBe('mailer');
    const wrong = { ...login, password: 'wrong' };
    expect(await sendMail(smtp(port, 'starttls', wrong), 'instance', mail)).toEqual({
      kind: 'refused',
      reason: expect.stringContaining('Invalid username or password'),
    });
  });

  it('tells a permanent failure from a temporary one', async () => {
    const { port } = await server({
      onMessage(count) {
        throw count === 1 ? smtpRefusal(452, 'come back later') : smtpRefusal(550, 'no such box');
      },
    });
    expect(await sendMail(smtp(port, 'starttls'), 'instance', mail)).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringContaining('come back later'),
    });
    expect(await sendMail(smtp(port, 'starttls'), 'instance', mail)).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('no such box'),
    });
  });

  it('gives up on a server that is absent or silent', async () => {
    expect((await sendMail(smtp(1, 'starttls'), 'instance', mail)).kind).toBe('unavailable');
    const silent = createTcpServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => new Promise<void>((resolve) => silent.close(() => resolve())));
    const address = silent.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    expect((await sendMail(smtp(port, 'starttls'), 'instance', mail)).kind).toBe('unavailable');
  });

  it('connects to no private address for an organization, under any name', async () => {
    const { port, connections } = await server();
    const guarded = createSendMail({ clock: systemClock, log, allowedNetworks: networks([]) });
    for (const host of [
      'localhost',
      '127.0.0.1',
      '::1',
      '0.0.0.0',
      '::ffff:127.0.0.1',
      '169.254.169.254',
    ]) {
      const sender = smtp(port, 'opportunistic');
      const transport = { ...sender.transport, host } as typeof sender.transport;
      expect(await guarded({ ...sender, transport }, 'organization', mail)).toEqual({
        kind: 'refused',
        reason: `${host} is not in the public internet`,
      });
    }
    expect(connections()).toBe(0);
    const local = createSendMail({
      clock: systemClock,
      log,
      allowedNetworks: networks(['127.0.0.0/8']),
    });
    const sender = smtp(port, 'opportunistic');
    const transport = { ...sender.transport, host: '127.0.0.1' } as typeof sender.transport;
    expect(await local({ ...sender, transport }, 'organization', mail)).toEqual({ kind: 'sent' });
  });

  it.each([
    ['smtp://mail.example.com', { host: 'mail.example.com', port: 587, tls: 'opportunistic' }],
    ['smtp://mail.example.com:25?tls=required', { port: 25, tls: 'starttls' }],
    [
      'smtps://u:p%40ss@mail.example.com',
      { port: 465, tls: 'implicit', login: { username: 'u', password: 'p@ss' } },
    ],
    ['smtp://[::1]:1025', { host: '::1', port: 1025 }],
    ['smtp://u:p@mail.example.com', { port: 587, tls: 'starttls' }],
    ['smtp://u:p@mail.example.com?tls=optional', { tls: 'opportunistic' }],
  ])('reads %s', (url, wanted) => {
    expect(smtpTransport(url)).toMatchObject(wanted);
  });
});

describe('Resend', () => {
  it.each([
    [200, { kind: 'sent' }],
    [422, { kind: 'refused', reason: 'Resend answers 422: {"message":"no"}' }],
    [429, { kind: 'unavailable', reason: 'Resend answers 429: {"message":"no"}' }],
    [500, { kind: 'unavailable', reason: 'Resend answers 500: {"message":"no"}' }],
  ])('answering %i', async (status, wanted) => {
    const requests: { url: string | undefined; authorization: string | undefined; body: string }[] =
      [];
    const resend = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const { authorization } = request.headers;
      requests.push({ url: request.url, authorization, body });
      response.writeHead(status, { 'content-type': 'application/json' }).end('{"message":"no"}');
    });
    await new Promise<void>((resolve) => resend.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => new Promise<void>((resolve) => resend.close(() => resolve())));
    const address = resend.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const send = createSendMail({
      clock: systemClock,
      log,
      allowedNetworks: everywhere,
      resendUrl: `http://127.0.0.1:${port}`,
    });
    const sender: MailSender = {
      transport: { kind: 'resend', apiKey: 're_secret' },
      fromAddress: 'a@example.com',
      replyTo: 'b@example.com',
    };
    expect(await send(sender, 'organization', mail)).toEqual(wanted);
    expect(requests).toMatchObject([{ url: '/emails', authorization: 'Bearer re_secret' }]);
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
      from: 'a@example.com',
      to: ['ada@example.com'],
      subject: mail.subject,
      text: mail.text,
      html: mail.html,
      reply_to: 'b@example.com',
    });
  });

  it('unreachable', async () => {
    const send = createSendMail({
      clock: systemClock,
      log,
      allowedNetworks: everywhere,
      resendUrl: 'http://127.0.0.1:1',
    });
    const sender: MailSender = { transport: { kind: 'resend', apiKey: 'x' }, fromAddress: 'a@b.c' };
    expect((await send(sender, 'organization', mail)).kind).toBe('unavailable');
  });
});

describe('files', () => {
  const day = 86_400_000;
  let nowMs = Date.UTC(2026, 0, 10);

  function mailbox(): { directory: string; write: () => Promise<unknown>; names: () => string[] } {
    const directory = mkdtempSync(join(tmpdir(), 'millrace-mail-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const sender: MailSender = { transport: { kind: 'file', directory }, fromAddress: 'a@b.c' };
    const clock = { nowMs: () => nowMs };
    const send = createSendMail({ clock, log, allowedNetworks: everywhere });
    return {
      directory,
      write: () => send(sender, 'instance', mail),
      names: () => readdirSync(directory).sort(),
    };
  }

  it('hold the whole mail, readable by their owner alone', async () => {
    const { directory, write, names } = mailbox();
    chmodSync(directory, 0o755);
    expect(await write()).toEqual({ kind: 'sent' });
    const [name = ''] = names();
    expect(name).toMatch(/\.eml$/);
    const path = join(directory, name);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(readFileSync(path, 'utf8')).toContain(mail.text.trim());
  });

  it('are removed after seven days, and no others are', async () => {
    const { directory, write, names } = mailbox();
    await write();
    const [first] = names();
    writeFileSync(join(directory, 'notes.eml'), 'mine');
    nowMs += 7 * day;
    await write();
    expect(names()).toContain(first);
    nowMs++;
    await write();
    expect(names()).not.toContain(first);
    expect(names()).toHaveLength(3);
    expect(names()).toContain('notes.eml');
  });

  it('are the newest thousand, however many were there', async () => {
    const { directory, write, names } = mailbox();
    for (let count = 0; count < 1_300; count++) {
      const time = new Date(nowMs - 1_000 - count).toISOString().replaceAll(':', '-');
      writeFileSync(join(directory, `${time}-00000000.eml`), '');
    }
    const newest = names().at(-1);
    await write();
    expect(names().length).toBeLessThan(1_300);
    await write();
    await write();
    expect(names()).toHaveLength(1_000);
    expect(names()).toContain(newest);
  });
});

describe('the outbox', () => {
  it('tries again until the server takes the mail, and stops where it refuses', async () => {
    const { port, received } = await server({
      onMessage(count) {
        if (count <= 2) throw smtpRefusal(451, 'busy');
        if (count === 4) throw smtpRefusal(554, 'never');
      },
    });
    const outbox = createOutbox({ send: sendMail, log, retryBaseMs: 5 });
    const outgoing = {
      about: 'magic link',
      sender: smtp(port, 'starttls'),
      origin: 'instance',
      mail,
    } as const;
    expect(outbox.add(outgoing)).toBe(true);
    await outbox.idle();
    expect(received).toHaveLength(1);
    outbox.add(outgoing);
    await outbox.idle();
    expect(received).toHaveLength(1);
    await outbox.close(0);
    expect(outbox.add(outgoing)).toBe(false);
  });

  it('is bounded, and ends in time with mails that cannot be sent', async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const outbox = createOutbox({
      log,
      retryBaseMs: 60_000,
      send: async () => {
        await gate;
        return { kind: 'unavailable', reason: 'gone' };
      },
    });
    const outgoing = {
      about: 'magic link',
      sender: smtp(1, 'starttls'),
      origin: 'instance',
      mail,
    } as const;
    let accepted = 0;
    while (outbox.add(outgoing)) accepted++;
    expect(accepted).toBe(1_004);
    release();
    await outbox.close(50);
  });
});
