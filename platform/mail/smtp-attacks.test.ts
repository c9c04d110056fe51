// Attacks on mails over SMTP, with a real mail server: somebody on the way to it who takes TLS away, a server with
// another's certificate, a name that leads inside, a port inside that is no mail server.

import { createSocket } from 'node:dgram';
import { connect, createServer, type Socket } from 'node:net';
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
import { createDnsInternet, type Internet } from './internet.ts';
import type { MailSender, SmtpTls } from './mail.ts';
import { createSendMail, type SendMail } from './send.ts';

const pair = selfSigned();
const login = { username: 'mailer', password: 'hunter2-hunter2' };
const mail = { to: 'ada@example.com', subject: 'Hello', text: 'Hello\n', html: '<p>Hello</p>' };
const server = (options: MailServerOptions = {}) => mailServerOfTest({ ...pair, ...options });

/** 127.0.0.1 is in this internet, and all other addresses are inside. */
function sending(internet: Partial<Internet> = {}, allowed: string[] = []): SendMail {
  return createSendMail({
    clock: systemClock,
    log: createLog('silent'),
    allowedNetworks: networks(allowed),
    extraCertificates: pair.cert,
    internet: {
      resolve: async () => [{ address: '127.0.0.1' }],
      isPublic: (address) => address === '127.0.0.1',
      ...internet,
    },
  });
}

function smtp(port: number, tls: SmtpTls, host = 'localhost'): MailSender {
  const transport = { kind: 'smtp', host, port, tls, login } as const;
  return { transport, fromAddress: 'no-reply@example.com' };
}

/** A listener that handles each connection and keeps the bytes that clients sent. */
async function listen(
  handle: (client: Socket) => void,
): Promise<{ port: number; sent: () => string }> {
  let sent = '';
  const listener = createServer((client) => {
    client.on('error', () => {});
    client.on('data', (bytes) => {
      sent += bytes.toString('latin1');
    });
    handle(client);
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => listener.close(() => resolve())));
  const address = listener.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    sent: () => sent,
  };
}

/** Somebody on the way who rewrites what the server says, and sees all that is not in TLS. */
function onTheWayTo(port: number, rewrite: (answer: string) => string) {
  return listen((client) => {
    const upstream = connect(port, '127.0.0.1');
    upstream.on('error', () => {});
    upstream.on('data', (bytes) => client.write(rewrite(bytes.toString('latin1')), 'latin1'));
    client.on('data', (bytes) => upstream.write(bytes));
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
}

const withoutOffer = (answer: string) =>
  answer.replace(/250-STARTTLS\r\n/, '').replace(/250 STARTTLS\r\n/, '250 HELP\r\n');
const agreed = /^220 Ready.*\r\n$/;
const strippers: [string, (answer: string) => string][] = [
  ['takes the offer of TLS away', withoutOffer],
  [
    'takes the offer away and refuses the command',
    (answer) => withoutOffer(answer).replace(agreed, '454 not now\r\n'),
  ],
  [
    'agrees to TLS and goes on in plain text',
    (answer) => answer.replace(agreed, '220 Ready\r\n250-smtp\r\n250 AUTH PLAIN LOGIN\r\n'),
  ],
];

describe.each(strippers)('somebody on the way who %s', (_, rewrite) => {
  it.each<[SmtpTls, 'instance' | 'organization']>([
    ['starttls', 'instance'],
    ['starttls', 'organization'],
    ['required', 'organization'],
    ['opportunistic', 'organization'],
  ])('gets no password and no mail: TLS %s of an %s', async (tls, origin) => {
    // The server would take the login in plain text too: only the client can keep it from being sent.
    const { port, received } = await server({ login, allowInsecureAuth: true });
    const thief = await onTheWayTo(port, rewrite);
    await sending()(smtp(thief.port, tls), origin, mail);
    expect(thief.sent()).toContain('EHLO');
    expect(thief.sent()).not.toMatch(/AUTH|MAIL FROM|hunter2|Hello/);
    // A client that insists on TLS gets it where nobody but the offer was in the way.
    expect(received.every(({ secure }) => secure)).toBe(true);
  });
});

it('a login goes out over TLS although the organization asked for TLS where it is offered', async () => {
  const { port, received } = await server({ login, allowInsecureAuth: true });
  const outcome = await sending()(smtp(port, 'opportunistic'), 'organization', mail);
  expect(outcome).toEqual({ kind: 'sent' });
  expect(received).toMatchObject([{ secure: true, user: 'mailer' }]);
});

it('a login goes out in plain text in a network that the operator opened', async () => {
  const { port, received } = await server({ login, allowInsecureAuth: true, hideSTARTTLS: true });
  const send = sending({ isPublic: () => false }, ['127.0.0.0/8']);
  expect(await send(smtp(port, 'opportunistic'), 'organization', mail)).toEqual({ kind: 'sent' });
  expect(received).toMatchObject([{ secure: false, user: 'mailer' }]);
});

it.each<[string, SmtpTls, MailServerOptions]>([
  ['DNS:mail.example.com', 'starttls', {}],
  ['DNS:mail.example.com', 'implicit', { secure: true }],
  ['DNS:mail.example.com', 'opportunistic', {}],
])(
  'a trusted certificate for %s does not do for localhost: TLS %s',
  async (names, tls, options) => {
    const other = selfSigned(names);
    const { port, received } = await server({ ...other, ...options, login });
    const send = createSendMail({
      clock: systemClock,
      log: createLog('silent'),
      allowedNetworks: networks([]),
      extraCertificates: other.cert,
      internet: {
        resolve: async () => [{ address: '127.0.0.1' }],
        isPublic: () => true,
      },
    });
    expect(await send(smtp(port, tls), 'organization', mail)).toMatchObject({
      kind: 'refused',
      reason: expect.stringMatching(/certificate|TLS/),
    });
    expect(received).toEqual([]);
  },
);

describe('a name that leads inside', () => {
  it('is refused at each attempt, and connected to at the address that was judged', async () => {
    const { port, received } = await server({ login });
    const answers = [
      ['127.0.0.1'],
      ['127.0.0.2'],
      ['127.0.0.1', '127.0.0.2'],
      ['127.0.0.1', '::1'],
      ['127.0.0.1'],
    ];
    let asked = 0;
    const resolve = async () => (answers[asked++] ?? []).map((address) => ({ address }));
    const send = sending({ resolve });
    const kinds: string[] = [];
    for (const _ of answers) {
      // The mode with two connections: the second one must not ask for the address again.
      kinds.push((await send(smtp(port, 'required'), 'organization', mail)).kind);
    }
    expect(kinds).toEqual(['sent', 'refused', 'refused', 'refused', 'sent']);
    expect(asked).toBe(answers.length);
    expect(received).toHaveLength(2);
  });

  it('is asked for without a thread: a name server that stays silent holds up nobody', async () => {
    const questions: string[] = [];
    const silent = createSocket('udp4', (bytes) => questions.push(bytes.toString('latin1')));
    await new Promise<void>((resolve) => silent.bind(0, '127.0.0.1', resolve));
    onTestFinished(() => new Promise<void>((resolve) => silent.close(() => resolve())));
    const servers = [`127.0.0.1:${silent.address().port}`];
    const { resolve } = createDnsInternet({ servers, timeoutMs: 50 });
    const sender = smtp(25, 'starttls', 'mail.slow.example');
    expect(await sending({ resolve })(sender, 'organization', mail)).toEqual({
      kind: 'unavailable',
      reason: 'mail.slow.example is not found',
    });
    // Only a look-up of our own asks this server: the system's, in a thread, does not know it.
    expect(questions[0]).toContain('slow');
    expect(await resolve('localhost')).toEqual([{ address: '127.0.0.1' }]);
  });

  it('answers like a name that does not exist', async () => {
    const absent = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
    const sender = smtp(25, 'starttls', 'db.internal');
    const inside = sending({ resolve: async () => [{ address: '10.0.0.1' }] });
    const nowhere = sending({ resolve: () => Promise.reject(absent) });
    const outcome = await inside(sender, 'organization', mail);
    expect(outcome.kind).toBe('refused');
    expect(await nowhere(sender, 'organization', mail)).toEqual(outcome);
  });
});

describe('the greeting of a service that is no mail server', () => {
  const banners = [
    'SSH-2.0-OpenSSH_9.7 secret-build\r\n',
    '-ERR secret-build\r\n',
    '554 secret-build 10.0.0.7\r\n',
    '220 secret-build\r\n500 secret-build\r\n500 secret-build\r\n',
    '7341 secret-build\r\n',
  ];

  it.each(
    banners.flatMap((banner) =>
      (['public', 'exception', 'this machine'] as const).map((where) => [banner, where] as const),
    ),
  )('does not come back: %j, %s', async (banner, where) => {
    const { port } = await listen((client) => client.end(banner));
    const isPublic = () => where === 'public';
    const send = sending({ isPublic }, where === 'exception' ? ['127.0.0.0/8'] : []);
    const origin = where === 'this machine' ? 'this machine' : 'organization';
    const outcome = await send(smtp(port, 'opportunistic'), origin, mail);
    expect(outcome.kind).not.toBe('sent');
    expect(JSON.stringify(outcome)).not.toMatch(/secret|OpenSSH|ERR|10\.0|7341/);
  });
});

describe('the words of a mail server', () => {
  const refusing = () =>
    server({ onMessage: () => Promise.reject(smtpRefusal(550, 'no box ada@example.com')) });
  const sender = async () => {
    const { port } = await refusing();
    const { login: _, ...transport } = { ...smtp(port, 'starttls').transport, login: undefined };
    return { transport, fromAddress: 'no-reply@example.com' } as MailSender;
  };

  it('come back from the public internet, without the addresses in them', async () => {
    expect(await sending()(await sender(), 'organization', mail)).toEqual({
      kind: 'refused',
      reason: expect.stringMatching(/550 no box \.\.\.$/),
    });
  });

  it('do not come back from a network that was opened: their class and number do', async () => {
    const send = sending({ isPublic: () => false }, ['127.0.0.0/8']);
    expect(await send(await sender(), 'organization', mail)).toEqual({
      kind: 'refused',
      reason: 'the mail server refuses the mail: SMTP 550',
    });
  });
});

it('an address that reads like a list stays one receiver', async () => {
  const { port, received } = await server({ login });
  const to = '=?utf-8?q?a=40evil.example=2c?=@example.com';
  expect(await sending()(smtp(port, 'starttls'), 'organization', { ...mail, to })).toEqual({
    kind: 'sent',
  });
  expect(received).toMatchObject([{ to: [to] }]);
});

it('no header comes in through a subject, and no second sender through a stored sender', async () => {
  const { port, received } = await server({ login });
  const subject = 'Hi\r\nBcc: eve@evil.example\r\n\r\nbody\u2028\u2029';
  expect(await sending()(smtp(port, 'starttls'), 'organization', { ...mail, subject })).toEqual({
    kind: 'sent',
  });
  expect(received[0]?.to).toEqual(['ada@example.com']);
  expect(received[0]?.text).not.toMatch(/^(bcc|body)/im);
  for (const fromAddress of ['a@b.c, d@e.f', 'A <a@b.c>\r\nBcc: d@e.f']) {
    const sender = { ...smtp(port, 'starttls'), fromAddress };
    expect((await sending()(sender, 'organization', mail)).kind).toBe('refused');
    const replying = { ...smtp(port, 'starttls'), replyTo: fromAddress };
    expect((await sending()(replying, 'organization', mail)).kind).toBe('refused');
  }
  expect(received).toHaveLength(1);
});
