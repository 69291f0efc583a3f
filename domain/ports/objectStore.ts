/** An object as a list shows it. */
export interface ListedObject {
  readonly key: string;
  /** RFC 3339 UTC: when it was put last. */
  readonly modified_at: string;
  readonly bytes: number;
}

/** Blobs by key (url-safe characters and `/`). A put is durable and atomic when it resolves. */
export interface ObjectStore {
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Stores a file that lies on the local disk. */
  putFile(key: string, path: string): Promise<void>;
  /** undefined when there is no such object. */
  get(key: string): Promise<Uint8Array | undefined>;
  open(key: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /**
   * Gives the object a second name on the local disk, without copying it: a file that is only read, and that
   * its reader removes. It stays as it is when the object is replaced. False when there is no such object.
   * Left out where objects do not lie on this disk.
   */
  readonly link?: (key: string, path: string) => Promise<boolean>;
  /**
   * Objects whose key begins with `prefix` (all of them for ''), in no order; what is put meanwhile may be
   * left out.
   */
  list(prefix: string): AsyncIterable<ListedObject>;
  remove(key: string): Promise<void>;
  /** Throws when the store cannot be reached. */
  check(): Promise<void>;
}
