/** What a sign-in that was begun is held against when the browser comes back. */
export interface SignInChecks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** `denied`: the provider said no. `untrusted`: what it said does not hold. `unavailable`: it did not answer. */
export type IdentityFailure = 'denied' | 'untrusted' | 'unavailable';

/** A sign-in that came to nothing, and why. */
export class IdentityRefused extends Error {
  override readonly name = 'IdentityRefused';
  readonly reason: IdentityFailure;

  constructor(reason: IdentityFailure, cause: unknown) {
    super(`the identity provider: ${reason}`, { cause });
    this.reason = reason;
  }
}

/** Tells who somebody is. Both methods throw IdentityRefused. */
export interface IdentityProvider {
  /** Where the browser is sent, and what its return is held against. */
  begin(redirectUri: string): Promise<{ readonly url: string; readonly checks: SignInChecks }>;
  /**
   * The claims of the ID token that the code of `returned` was given for, `sub` among them: the JSON as the provider
   * wrote it, where a claim that stands twice can be seen.
   */
  finish(returned: URL, checks: SignInChecks): Promise<string>;
}
