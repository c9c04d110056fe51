// The refresh token of a browser's session, in a cookie that no script reads. A browser sends cookies wherever it is
// told to: the cookie counts for two methods only, with a header that other sites' pages cannot set, and on calls of
// own pages.

import type { HandlerContext } from '@connectrpc/connect';
import { cameStraightFromThisMachine } from '../../platform/access/only-this-machine.ts';
import { callerRequestOf } from '../../platform/http/caller-request.ts';
import { parseUrl } from '../../platform/http/parse-url.ts';
import { refreshTokenDays } from './session.ts';

const cookieName = 'millrace_refresh';
/** Keeps the cookie from every other path of the port, the SDKs' and the pages' own. */
const attributes = 'Path=/public.auth.v1.AuthService; HttpOnly; SameSite=Strict';
const lifetimeSeconds = refreshTokenDays * 24 * 3_600;

/** What a call asks by its header `x-session`. */
export function wantsCookie({ requestHeader }: Pick<HandlerContext, 'requestHeader'>): boolean {
  return requestHeader.get('x-session') === 'cookie';
}

/** Moves the answer's refresh token into the cookie where the call wants that. */
export function withSessionCookie<A extends object>(
  answer: A & { refreshToken?: string },
  context: HandlerContext,
): A {
  const { refreshToken } = answer;
  if (refreshToken === undefined || !wantsCookie(context)) return answer;
  setCookie(context, refreshToken, lifetimeSeconds);
  return { ...answer, refreshToken: '' };
}

/** Tells the browser to forget the cookie, where the call wants cookies. */
export function clearSessionCookie(context: HandlerContext): void {
  if (wantsCookie(context)) setCookie(context, '', 0);
}

/**
 * The refresh token of the call's cookie; empty where there is none, or the call must not use one. `publicUrl`: the
 * address of the pages, where it is not the one that was called.
 */
export function cookieToken(context: HandlerContext, publicUrl: string): string {
  if (!wantsCookie(context) || !isOfOwnPage(context, publicUrl)) return '';
  const pairs = (context.requestHeader.get('cookie') ?? '').split(';');
  const pair = pairs.map((text) => text.trim()).find((text) => text.startsWith(`${cookieName}=`));
  return pair?.slice(cookieName.length + 1) ?? '';
}

/** A browser may leave Origin out where a page calls its own address, and says so then. */
function isOfOwnPage({ requestHeader, url }: HandlerContext, publicUrl: string): boolean {
  const origin = requestHeader.get('origin');
  if (origin === null) return requestHeader.get('sec-fetch-site') === 'same-origin';
  // Whether a proxy in front speaks TLS is not known here, so both schemes of the called host are own.
  const { host } = new URL(url);
  const own = [`http://${host}`, `https://${host}`];
  return own.includes(origin) || origin === parseUrl(publicUrl)?.origin;
}

/** Not every browser keeps a Secure cookie of plain http to this machine; no other network may carry it bare. */
function setCookie(context: HandlerContext, value: string, maxAgeSeconds: number): void {
  const secure = cameStraightFromThisMachine(callerRequestOf(context)) ? '' : '; Secure';
  context.responseHeader.append(
    'set-cookie',
    `${cookieName}=${value}; ${attributes}; Max-Age=${maxAgeSeconds}${secure}`,
  );
}
