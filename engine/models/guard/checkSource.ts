import type { LookupAddress } from 'node:dns';
import { checkedHost, type BasePolicy } from './checkBase.ts';

export type CheckedSource =
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
