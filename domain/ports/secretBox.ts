/** Whose a secret is. A sealed secret opens for its owner only, so one cannot be put in another's place. */
export interface SecretOwner {
  readonly tenant_id: string;
  readonly secret_id: string;
}

export type OpenedSecret =
  | {
      readonly kind: 'opened';
      readonly text: string;
      /** Sealed with the key that seals now. */
      readonly isCurrent: boolean;
    }
  /** Sealed with a key that this process was not given. */
  | { readonly kind: 'unknown_key'; readonly key_id: string }
  /** Changed since it was sealed, another owner's, or none at all. */
  | { readonly kind: 'tampered' };

/** Seals secrets for storage, and opens them again. */
export interface SecretBox {
  readonly seal: (text: string, owner: SecretOwner) => Uint8Array;
  readonly open: (sealed: Uint8Array, owner: SecretOwner) => OpenedSecret;
}

/** Where a sealed secret lies in object storage. */
export const secretObjectKey = (secretId: string): string => `secrets/${secretId}`;
