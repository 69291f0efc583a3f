import type { Operation } from './protocol.ts';

/** A link that signs whoever follows it in as an admin: once, and soon. */
export interface SignInLink {
  readonly url: string;
}

/** Gives a new sign-in link. Whoever may open the socket may make admin keys, too. */
export const newSignInLink =
  (newLink: () => Promise<string>): Operation =>
  async (_input, { send }) =>
    send({ url: await newLink() } satisfies SignInLink);
