import { isIPv4, isIPv6 } from 'node:net';
import type { RateLimiter } from '../../../domain/ports/services.ts';
import { takeFrom } from '../middleware/limits.ts';
import type { Browser } from './browser.ts';

/** Keys cannot be guessed: this bounds the work that strangers cause here, and at a provider. */
const SIGN_INS = { rate_per_second: 1, burst: 30 };

/** An IPv4 address that is written as one of IPv6, with a port, or both. */
const INNER_IPV4 = /^(?:\[?::ffff:)?(\d+\.\d+\.\d+\.\d+)\]?(?::\d+)?$/i;
const INNER_IPV6 = /^\[?([\da-f:.]+)(?:%[^\]]*)?\]?(?::\d+)?$/i;
const NETWORK_GROUPS = 4;

/** The /64 of an address of IPv6: whoever has one address there has all of them. */
const networkOf = (address: string): string => {
  const [before = '', after] = address.split('::');
  const [head, tail] = [before, after ?? ''].map((half) => half.split(':').filter((group) => group !== ''));
  const gap = after === undefined ? 0 : Math.max(0, 8 - (head?.length ?? 0) - (tail?.length ?? 0));
  const groups = [...(head ?? []), ...Array.from({ length: gap }, () => '0'), ...(tail ?? [])];
  return groups
    .slice(0, NETWORK_GROUPS)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
};

/** Who counts as one client: an address of IPv4, a network of IPv6; all that is neither counts as one. */
export const clientAt = (address: string): string => {
  const ipv4 = INNER_IPV4.exec(address)?.[1] ?? '';
  if (isIPv4(ipv4)) return ipv4;
  const whole = isIPv6(address) ? address.replace(/%.*/, '') : (INNER_IPV6.exec(address)?.[1] ?? '');
  return isIPv6(whole) ? networkOf(whole) : 'unknown';
};

/** How often somebody may try to sign in. Each throws 429 `rate_limited`. */
export interface SignInLimits {
  /** Before anything is looked up, or asked of a provider. */
  byClient(browser: Pick<Browser, 'address'>): Promise<void>;
  /** The same for those who come back from a provider: their sign-in was counted when it began. */
  byReturning(browser: Pick<Browser, 'address'>): Promise<void>;
  /** Once it is known who signs in, by `subject` as events name it. */
  byAccount(subject: string): Promise<void>;
}

export const signInLimits = (limiter: RateLimiter): SignInLimits => {
  const take = async (of: string): Promise<void> => {
    await takeFrom(limiter, `sign_in:${of}`, { name: 'sign_in', bucket: SIGN_INS });
  };
  return {
    byClient: ({ address }) => take(clientAt(address)),
    byReturning: ({ address }) => take(`return:${clientAt(address)}`),
    byAccount: (subject) => take(`account:${subject}`),
  };
};
