import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { mayConnectTo } from './addresses.ts';

/** All addresses of a host name; rejects when there is none. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

export interface BasePolicy {
  readonly allowPrivateNetwork: boolean;
  readonly resolve: Resolve;
}

export type CheckedBase =
  | { readonly kind: 'ok'; readonly addresses: readonly LookupAddress[] }
  | { readonly kind: 'unsafe_api_base'; readonly detail: string };

export const systemResolve: Resolve = (host) => lookup(host, { all: true });

const unsafe = (detail: string): CheckedBase => ({ kind: 'unsafe_api_base', detail });

const LOCAL_NAME = /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|home\.arpa)$/u;

const NOT_PUBLIC = 'The API base is not at a public address: give one that can be reached from the internet.';

/**
 * Whether work may be sent to a base that a caller named: https, a public host, no more. A name is resolved
 * once, and every address it stands for must be allowed: connections go to these and are not resolved again.
 */
export async function checkCallersBase(apiBase: string, policy: BasePolicy): Promise<CheckedBase> {
  const url = URL.canParse(apiBase) ? new URL(apiBase) : undefined;
  const wrong =
    url === undefined ? 'The API base is no URL: give one like https://host/v1.' : formOf(url, policy);
  if (url === undefined || wrong !== undefined) return unsafe(wrong ?? NOT_PUBLIC);
  const checked = await checkedHost(url, policy);
  if (checked === 'unknown')
    return unsafe('The host of the API base cannot be found: check how it is spelled.');
  return checked === 'not_public' ? unsafe(NOT_PUBLIC) : { kind: 'ok', addresses: checked };
}

/** Every address that the host of a URL stands for, where all of them may be connected to. */
export async function checkedHost(
  url: URL,
  { allowPrivateNetwork, resolve }: BasePolicy,
): Promise<readonly LookupAddress[] | 'unknown' | 'not_public'> {
  const host = hostOf(url);
  if (!allowPrivateNetwork && LOCAL_NAME.test(host)) return 'not_public';
  const addresses = await addressesOf(host, resolve);
  if (addresses.length === 0) return 'unknown';
  return addresses.every(({ address }) => mayConnectTo(address, allowPrivateNetwork))
    ? addresses
    : 'not_public';
}

/** What is wrong with the form of a base, as a sentence. */
function formOf(url: URL, { allowPrivateNetwork }: BasePolicy): string | undefined {
  if (url.protocol !== 'https:' && !(allowPrivateNetwork && url.protocol === 'http:'))
    return 'The API base must begin with https://.';
  if (url.username !== '' || url.password !== '')
    return 'The API base may not hold a user name or a password: send the key in its own field.';
  if (url.search !== '' || url.hash !== '')
    return 'The API base may not have a query or a fragment: end it with its path.';
  return undefined;
}

/** Without the brackets of IPv6 and the dot that ends a full name. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/gu, '').replace(/\.$/u, '');

async function addressesOf(host: string, resolve: Resolve): Promise<readonly LookupAddress[]> {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  return resolve(host).catch(() => []);
}
