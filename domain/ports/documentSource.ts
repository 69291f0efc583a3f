/** Where a document is fetched from, after its address was checked. */
export interface SourceAddress {
  readonly url: URL;
  /** What its host stands for: connections go to these and are not resolved again. */
  readonly addresses: readonly { readonly address: string; readonly family: number }[];
}

export type SourceAnswer =
  | { readonly kind: 'found'; readonly bytes: AsyncIterable<Uint8Array>; readonly length: number | undefined }
  /** `status` null: there was no answer. */
  | { readonly kind: 'unavailable'; readonly status: number | null; readonly detail: string };

/** Documents that lie elsewhere on the web. Redirects are not followed, and nothing but the URL is sent. */
export interface DocumentSource {
  /** Rejects with the signal's reason when it is aborted; the bytes then end with an error too. */
  open(address: SourceAddress, signal: AbortSignal): Promise<SourceAnswer>;
}
