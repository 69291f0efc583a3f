import { isIP } from 'node:net';

/** Where receivers may be. */
export interface ReceiverPolicy {
  /** Lets them be http, and in the operator's own network. */
  readonly allowPrivateNetwork: boolean;
  /** Whether an IP address may be connected with. */
  readonly mayConnectTo: (address: string) => boolean;
}

/**
 * What is wrong with the URL of a receiver, as a sentence. A name is not looked up here: what it stands for counts
 * when something is sent, and an answer would tell callers which names there are inside.
 */
export const receiverUrlFlaw = (
  text: string,
  { allowPrivateNetwork, mayConnectTo }: ReceiverPolicy,
): string | undefined => {
  if (!URL.canParse(text)) return 'This is no URL: give one like https://example.com/quire.';
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(allowPrivateNetwork && url.protocol === 'http:'))
    return 'The URL must begin with https://.';
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    return 'The URL may have no user name, no password and no fragment.';
  const address = url.hostname.replace(/^\[|\]$/gu, '');
  return isIP(address) === 0 || mayConnectTo(address)
    ? undefined
    : 'The URL is not at a public address: give one that can be reached from the internet.';
};
