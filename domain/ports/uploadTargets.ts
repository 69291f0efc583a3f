/** What a client may put where, and until when. */
export interface UploadGrant {
  readonly document_id: string;
  /** The object that the upload becomes. */
  readonly key: string;
  /** The type that the client has to send; null: any. */
  readonly content_type: string | null;
  /** How many bytes the client says it will send; null: not said. */
  readonly bytes: number | null;
  /** Most bytes that are taken. */
  readonly bytes_max: number;
  /** RFC 3339 UTC. */
  readonly signed_at: string;
  readonly expires_seconds: number;
}

/** Where to send the bytes with `PUT`, and the headers to send with them. */
export interface UploadTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Makes URLs that let whoever has them put one object, for a while, without a key. */
export interface UploadTargets {
  presign(grant: UploadGrant): Promise<UploadTarget>;
}

/** The signed members of an upload URL that this service answers itself, as they came. */
export interface SignedUpload {
  readonly document_id: string;
  /** Seconds since 1970, as digits. */
  readonly expires: string;
  /** '' for any type. */
  readonly content_type: string;
  readonly max_bytes: string;
  readonly signature: string;
}

/** What a signature allows. */
type SignatureVerdict =
  | { readonly kind: 'valid'; readonly bytes_max: number }
  | { readonly kind: 'expired' }
  | { readonly kind: 'invalid' };

/** Tells whether an upload URL was made here and still holds. */
export interface UploadSignatures {
  /** `now`: RFC 3339 UTC. */
  check(upload: SignedUpload, now: string): SignatureVerdict;
}
