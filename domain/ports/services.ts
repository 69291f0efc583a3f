import type { Witness } from '../kernel/witness.ts';

/** The folder cannot be taken; the message says why, and what to do. */
export class DataDirInUse extends Error {
  override readonly name = 'DataDirInUse';
}

/** The embedded log could not be copied. `isFull`: for want of room. The message has the database's reason. */
export class LogNotCopied extends Error {
  override readonly name = 'LogNotCopied';
  readonly isFull: boolean;
  constructor(reason: string, { isFull }: { readonly isFull: boolean }) {
    super(`the event log could not be copied: ${reason}`);
    this.isFull = isFull;
  }
}

/** The data folder's record of the process that has it, or had it last. */
export interface FolderOwner {
  /** undefined: nothing was written; a member: that one was not written. */
  readonly owner:
    | {
        readonly pid: number;
        readonly host: string | undefined;
        /** In ticks of the system's clock: tells the process from a later one of its number. */
        readonly started: string | undefined;
        /** Where its number means that process: one run of one system, and in it one container. */
        readonly realm: string | undefined;
      }
    | undefined;
  /** The lock was renewed a moment ago: its owner is alive. */
  readonly isLocked: boolean;
  /** The owner is a process of this machine. */
  readonly isHere: boolean;
  /** It runs, as far as that can be told here. */
  readonly isRunning: boolean;
  /** How the process was started; empty if unknown. */
  readonly command: string;
  /** A restore is not finished. */
  readonly isRestoring: boolean;
}

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

/** What a started sign-in is compared with when the browser comes back. */
interface SignInChecks {
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
  /** Where the browser is sent, and what its return is compared with. */
  begin(redirectUri: string): Promise<{ readonly url: string; readonly checks: SignInChecks }>;
  /**
   * The claims of the ID token that the code of `returned` was given for, `sub` among them: the JSON as the provider
   * wrote it, where a claim that stands twice can be seen.
   */
  finish(returned: URL, checks: SignInChecks): Promise<string>;
}

/** Objects that nobody can change or remove until a time, whatever keys they hold. */
export interface LockedObjects {
  /** Why objects cannot be locked here, in a sentence; null: they can. Throws when the store cannot be reached. */
  refusal(): Promise<string | null>;
  /** Stores an object, locked until `until` (RFC 3339 UTC) when it resolves. */
  putLocked(key: string, bytes: Uint8Array, until: string): Promise<void>;
}

/** Letters, digits, `.`, `_`, `-` in parts of at most 128, joined by `/`; no part is only dots. */
const PART = /^(?!\.+$)[A-Za-z0-9._-]{1,128}$/;
const KEY_CHARACTERS_MAX = 512;

/** Throws for a key that could leave the store or mean two objects: keys are made by us, never by a caller. */
export function checkObjectKey(key: string): string {
  const parts = key.split('/');
  if (key.length > KEY_CHARACTERS_MAX || !parts.every((part) => PART.test(part)))
    throw new Error(`not an object key: ${JSON.stringify(key.slice(0, 80))}`);
  return key;
}

/** Throws for a prefix that is neither '' nor whole parts of a key, each with its `/`. */
export function checkKeyPrefix(prefix: string): string {
  if (prefix === '') return prefix;
  if (!prefix.endsWith('/'))
    throw new Error(`not the prefix of object keys: ${JSON.stringify(prefix.slice(0, 80))}`);
  checkObjectKey(prefix.slice(0, -1));
  return prefix;
}

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

/** A token bucket: a full one admits `burst` at once, then refills at `rate_per_second`. */
export interface Bucket {
  readonly rate_per_second: number;
  readonly burst: number;
}

/** A tenant has a bucket for work on documents, and one for all other requests. */
export type BucketClass = 'heavy' | 'general';

/** `remaining` tokens after the call; `resetMs` until the bucket is full; `retryAfterMs` until one token. */
export interface RateDecision {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly resetMs: number;
  readonly retryAfterMs: number;
}

/** Takes one token from the bucket named `key`. It answers always: an outage never refuses a request. */
export interface RateLimiter {
  take(key: string, bucket: Bucket): Promise<RateDecision>;
  close(): Promise<void>;
}

/** What an `Idempotency-Key` belongs to. */
export interface ReplayScope {
  readonly tenant_id: string;
  readonly endpoint: string;
  readonly idempotency_key: string;
}

/** The right to run a request, held by one process until `expires_at_ms` unless renewed. */
export interface ReplayLease {
  readonly scope: ReplayScope;
  /** Unique to the run, so that one that lost its lease cannot complete another's. */
  readonly owner: string;
  /** `AnsweredLog.losses` when it began. */
  readonly losses: number;
}

/**
 * `started`: run it. `in_progress`: somebody runs it, or has died and holds it for `left_ms` more. `reused`: the key
 * belongs to another request. `replay`: it was answered already, with this.
 */
export type ReplayBegin =
  | { readonly kind: 'started'; readonly lease: ReplayLease }
  | { readonly kind: 'in_progress'; readonly left_ms: number }
  | { readonly kind: 'reused' }
  | { readonly kind: 'replay'; readonly status: number; readonly body: string };

export interface ReplayAnswer {
  readonly status: number;
  readonly body: string;
  readonly keepMs: number;
}

/** The log that answers stand on. */
export interface AnsweredLog {
  /** How much of what this process knew was found to be lost. */
  readonly losses: () => number;
  /** A log that has these has all that this process has read and written; none: it has done neither. */
  readonly known: () => readonly Witness[];
  /** Throws LogUnavailable. */
  readonly has: (event: Witness) => Promise<boolean>;
}

/**
 * Answers kept for idempotent retries. Each stands on the furthest events that its process knew when the request
 * ended: what the request wrote or read lies no further. If the log lacks one of them, it is another one or was
 * restored from an older copy; the answer no longer counts, and the next request runs. The loss of the store costs a
 * replay and never money. Every method throws when it or the log cannot be reached.
 */
export interface ReplayStore {
  begin(scope: ReplayScope, fingerprint: string, leaseMs: number): Promise<ReplayBegin>;
  /** False when the lease was lost. */
  renew(lease: ReplayLease, leaseMs: number): Promise<boolean>;
  /** False when the lease was lost, or something of the log: then nothing is kept. */
  complete(lease: ReplayLease, answer: ReplayAnswer): Promise<boolean>;
  /** Frees the key: the request ended in an answer that is not kept. */
  abandon(lease: ReplayLease): Promise<void>;
  /** Removes all kept answers of a tenant: one of them may say what was erased. */
  forget(tenantId: string): Promise<void>;
  /** Removes what has expired; gives how much. */
  purge(): Promise<number>;
}

/** A process of the service, as it describes itself. */
export interface ReplicaFacts {
  readonly replica_id: string;
  readonly version: string;
  readonly roles: readonly string[];
}

/** A process that gave a sign of life lately. Times are those of the database, which all share. */
export interface Replica extends ReplicaFacts {
  readonly started_at: string;
  readonly seen_at: string;
}

/** Where the processes of one service see one another. Every method throws when it cannot be told. */
export interface Replicas {
  /** A sign of life; forgets those that have given none for long. */
  beat(facts: ReplicaFacts): Promise<void>;
  /** A process that ends says so. */
  leave(replicaId: string): Promise<void>;
  /** Those that are alive, the oldest first. */
  alive(): Promise<readonly Replica[]>;
}

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

/** Where a sealed secret is in object storage. */
export const secretObjectKey = (secretId: string): string => `secrets/${secretId}`;

/** What a client may upload, where, and until when. */
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

/** Makes URLs with which anybody may put one object, for a while, without a key. */
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

/**
 * Words that count once: a session that was ended, a link that was followed. Each is kept for as long as what it
 * names would still be taken. Every method throws when it cannot be told.
 */
export interface UsedOnce {
  /** False if the word was used before. The answer survives a crash of the process. */
  use(word: string, untilMs: number): Promise<boolean>;
  isUsed(word: string): Promise<boolean>;
  /** Names this memory: a new one has another name, and does not know the words used before. */
  epoch(): Promise<string>;
  /** Removes words that nothing asks for any more; gives how many. */
  purge(): Promise<number>;
}

export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
  readonly signal: AbortSignal;
}

/** Why a request brought nothing; the receiver's status, if any, says more. */
export type WebhookFailure = 'status' | 'redirect' | 'timeout' | 'connection' | 'unsafe_address';

/** What a receiver made of one request. */
export interface WebhookAnswer {
  /** null: it took the message. */
  readonly error: WebhookFailure | null;
  /** null: there was no answer. */
  readonly response_status: number | null;
  /** The pause that it asks for, ms; 0: none. */
  readonly retryAfterMs: number;
}

/**
 * Sends a message to its receiver: once, to no private address, following nothing. Never rejects, and settles by
 * itself: within a limit of its own, and at once when the signal aborts.
 */
export type WebhookTransport = (request: WebhookRequest) => Promise<WebhookAnswer>;

/** A column of a paper's table. */
export interface PaperColumn {
  readonly title: string;
  /** Part of the width; those of all columns are put in relation. */
  readonly share: number;
  /** Amounts stand at the right end. */
  readonly isAmount?: boolean;
}

/** A statement or a receipt as it is printed: texts in their places. The same paper is the same file, byte for byte. */
export interface Paper {
  readonly title: string;
  /** Its number, or what stands in its place. */
  readonly number: string;
  /** Lines of the addressee. */
  readonly to: readonly string[];
  /** Names with values, beside the addressee. */
  readonly facts: readonly (readonly [string, string])[];
  readonly columns: readonly PaperColumn[];
  readonly rows: readonly {
    readonly cells: readonly string[];
    /** A balance or a total. */
    readonly isStrong?: boolean;
  }[];
  /** Lines at the end of the last page. */
  readonly notes: readonly string[];
  /** Lines at the foot of each page. */
  readonly foot: readonly string[];
  /** The time that the file bears: of what it is about, never of its making. RFC 3339 UTC. */
  readonly dated: string;
}

/** Makes PDF files. */
export interface Printer {
  readonly print: (paper: Paper) => Promise<Uint8Array>;
}
