// AuthService.SignInWithMagicLink: an e-mail address gets a link, the link's token gets a session. An address that has
// no account, and may have none, or a mailbox that has links enough, takes the same steps but for the mail: neither
// answer nor time tells. Redeeming the token makes the account where there is none. Where no mail server is set and
// only this machine reaches the service, the answer has the link.

import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import type { MailSender } from '../../../platform/mail/mail.ts';
import type { Outbox } from '../../../platform/mail/outbox.ts';
import type { SignInWithMagicLinkRequest } from '../../../proto/gen/public/auth/v1/auth_pb.js';
import type { CustomerStore } from '../../customers/customer-store.ts';
import { magicLinkMail } from '../../mail/mail-texts.ts';
import { emailField, invalidArgument } from '../../request-fields.ts';
import type { Attempts } from '../attempts.ts';
import { type MagicLinks, magicLinkMinutes } from '../magic-link.ts';
import type { ProvenAddress } from '../proven-address.ts';
import type { MayJoin } from './may-join.ts';
import type { ChallengeAnswer, SignInAnswer, SignInCustomer } from './sign-in-customer.ts';

export interface MagicLinkDeps {
  magicLinks: MagicLinks;
  attempts: Pick<Attempts, 'redeem' | 'link' | 'linkUsed'>;
  customers: Pick<CustomerStore, 'findByEmail'>;
  provenAddress: ProvenAddress;
  mayJoin: MayJoin;
  signInCustomer: SignInCustomer;
  outbox: Pick<Outbox, 'add' | 'hasRoomForLink'>;
  instanceSender: MailSender;
  hasMailServer: boolean;
  onlyThisMachine: (context: HandlerContext) => boolean;
  /** The dashboard's base URL for people, without a slash at the end. */
  publicUrl: () => string;
  addressOf: (context: HandlerContext) => string | undefined;
}

/** What the answer tells about the link that was asked for. */
interface AskedLink {
  noMailServer: boolean;
  /** Empty where the link is not for the caller to see. */
  link: string;
}

export async function signInWithMagicLink(
  deps: MagicLinkDeps,
  request: SignInWithMagicLinkRequest,
  context: HandlerContext,
): Promise<SignInAnswer | ChallengeAnswer | AskedLink> {
  const address = deps.addressOf(context);
  if ((request.email === '') === (request.token === '')) {
    throw invalidArgument('email', 'is required, or else token: one of the two');
  }
  if (request.token !== '') return redeem(deps, request.token, context);
  const email = emailField('email', request.email);
  if (!deps.outbox.hasRoomForLink()) {
    // Four at once leave in a second or two each.
    const retryAfter = { 'retry-after': '60' };
    throw new ConnectError('too many mails are waiting', Code.ResourceExhausted, retryAfter);
  }
  // A mailbox that has just got a link from others' asking gets no more: its owner finds that one.
  const isAsked = deps.attempts.link(address, email) === 'send';
  const isKnown = deps.customers.findByEmail(email) !== undefined || deps.mayJoin(email, context);
  const isSent = isAsked && isKnown;
  const token = await deps.magicLinks.issue(email, isSent ? 'expected' : 'unexpected');
  // Everywhere else the answer is the same for every address.
  const noMailServer = !deps.hasMailServer;
  if (!isSent) return { noMailServer, link: '' };
  const link = `${deps.publicUrl()}/sign-in?token=${token}`;
  deps.outbox.add({
    about: 'magic link',
    sender: deps.instanceSender,
    origin: 'instance',
    mail: { to: email, ...magicLinkMail({ link, minutes: magicLinkMinutes }) },
  });
  return { noMailServer, link: noMailServer && deps.onlyThisMachine(context) ? link : '' };
}

async function redeem(
  deps: MagicLinkDeps,
  token: string,
  context: HandlerContext,
): Promise<SignInAnswer | ChallengeAnswer> {
  deps.attempts.redeem(deps.addressOf(context));
  const email = await deps.magicLinks.redeem(token);
  if (email === undefined) {
    throw new ConnectError('the link is expired or used: ask for another', Code.Unauthenticated);
  }
  deps.attempts.linkUsed(email);
  return deps.signInCustomer(await deps.provenAddress(email, context));
}
