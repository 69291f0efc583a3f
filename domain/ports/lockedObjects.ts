/** Objects that nobody can change or remove until a time, whatever keys they hold. */
export interface LockedObjects {
  /** Why objects cannot be locked here, in a sentence; null: they can. Throws when the store cannot be reached. */
  refusal(): Promise<string | null>;
  /** Stores an object, locked until `until` (RFC 3339 UTC) when it resolves. */
  putLocked(key: string, bytes: Uint8Array, until: string): Promise<void>;
}
