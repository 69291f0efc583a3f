import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

const PUBLIC = new Set(['unicast']);

/** What an operator may open for its own network. Link-local stays shut: clouds keep their secrets there. */
const PRIVATE_TOO = new Set(['unicast', 'private', 'loopback', 'uniqueLocal', 'carrierGradeNat']);

/** Public by its range, and yet Azure's metadata service. */
const METADATA = new Set(['168.63.129.16']);

/** All of IPv6 that is routed today; whatever embeds an IPv4 address in other prefixes is outside of it. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether a caller may make us connect to an IP address: public unicast, and private networks where the
 * operator opened them. What is no address is refused.
 */
export const mayConnectTo = (address: string, allowPrivateNetwork: boolean): boolean => {
  if (!ipaddr.isValid(address) || METADATA.has(address)) return false;
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (!(allowPrivateNetwork ? PRIVATE_TOO : PUBLIC).has(range)) return false;
  return !(parsed instanceof ipaddr.IPv6) || range !== 'unicast' || parsed.match(GLOBAL_UNICAST);
};

/** All addresses of a host name; rejects when there is none. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

export interface BasePolicy {
  readonly allowPrivateNetwork: boolean;
  readonly resolve: Resolve;
}

type CheckedBase =
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

type CheckedSource =
  | { readonly kind: 'ok'; readonly url: URL; readonly addresses: readonly LookupAddress[] }
  | { readonly kind: 'unsafe'; readonly detail: string };

const unsafeSource = (detail: string): CheckedSource => ({ kind: 'unsafe', detail });

/**
 * Whether a document may be fetched from a URL that a caller named: as for the base of a model, but for the query,
 * in which signed links have their signature.
 */
export async function checkSource(text: string, policy: BasePolicy): Promise<CheckedSource> {
  if (!URL.canParse(text))
    return unsafeSource('source_url is no URL: give one like https://host/document.pdf.');
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(policy.allowPrivateNetwork && url.protocol === 'http:'))
    return unsafeSource('source_url must begin with https://.');
  if (url.username !== '' || url.password !== '')
    return unsafeSource('source_url may not hold a user name or a password.');
  const addresses = await checkedHost(url, policy);
  if (addresses === 'unknown')
    return unsafeSource('The host of source_url cannot be found: check how it is spelled.');
  if (addresses === 'not_public')
    return unsafeSource(
      'source_url is not at a public address: give one that can be reached from the internet.',
    );
  return { kind: 'ok', url, addresses };
}
