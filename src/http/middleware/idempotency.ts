import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type {
  ReplayBegin,
  ReplayLease,
  ReplayScope,
  ReplayStore,
} from '../../../domain/ports/replayStore.ts';
import type { Idempotency } from '../defineRoute.ts';
import { isTooDeep } from '../server/jsonBody.ts';
import { invalid, problem, retryLater } from '../problems.ts';

/** A lease outlives a crash by this much at most; a running request renews it. */
const LEASE_MS = 10_000;
const RENEW_MS = 3_000;

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;
const SECRETS = new Set(['api_key', 'llm_api_key', 'ocr_api_key']);

/** The checked header; null when it was not sent. An empty one counts as a mistake. */
export const idempotencyKeyIn = (
  header: string | undefined,
  { keyLengthMax }: Idempotency,
): string | null => {
  if (header === undefined) return null;
  if (header.length <= keyLengthMax && VISIBLE_ASCII.test(header)) return header;
  const msg = `1 to ${String(keyLengthMax)} visible ASCII characters.`;
  throw invalid({ loc: ['header', 'Idempotency-Key'], msg, type: 'invalid_format' });
};

const digest = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

const listWithoutSecrets = (list: readonly unknown[]): readonly unknown[] => {
  let changed: unknown[] | undefined;
  for (let at = 0; at < list.length; at += 1) {
    const safe = withoutSecrets(list[at]);
    if (safe !== list[at]) (changed ??= [...list])[at] = safe;
  }
  return changed ?? list;
};

/** What holds no secret stays as it is: bodies of a megabyte are not copied. */
const withoutSecrets = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return listWithoutSecrets(value);
  const changed: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value) as [string, unknown][]) {
    const safe = SECRETS.has(name) && typeof member === 'string' ? digest(member) : withoutSecrets(member);
    if (safe !== member) changed.push([name, safe]);
  }
  return changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed) };
};

/** JSON that travels as the text of a form's field: its white space and the order of its members say nothing. */
const withCanonicalSchema = (fields: unknown): unknown => {
  const schema = (fields as { readonly schema?: unknown } | undefined)?.schema;
  if (typeof schema !== 'string' || isTooDeep(schema)) return fields;
  try {
    return { ...(fields as object), schema: canonicalize(JSON.parse(schema)) };
  } catch {
    return fields;
  }
};

/** Digest of the normalised request. Own provider keys enter it as digests. */
export const requestFingerprint = ({ form, ...parts }: RequestParts): string =>
  digest(
    canonicalize(
      withoutSecrets(form === undefined ? parts : { ...parts, body: withCanonicalSchema(form) }),
    ) ?? '',
  );

interface RequestParts {
  readonly path: unknown;
  readonly query: unknown;
  /** As JSON, or as the fields of a form. */
  readonly body?: unknown;
  readonly form?: unknown;
  readonly sha256: string | undefined;
}

/** What is sent and kept: a status and a serialised body. */
export interface Sent {
  readonly status: number;
  readonly body: string;
  readonly replayed: boolean;
}

export interface Replayable {
  readonly store: ReplayStore;
  readonly scope: ReplayScope;
  readonly fingerprint: string;
  readonly keepMs: number;
  readonly onStoreError: (error: unknown) => void;
}

/** Without the store it is not known whether the request ran already: money endpoints fail closed. */
const begun = async ({ store, scope, fingerprint, onStoreError }: Replayable): Promise<ReplayBegin> => {
  try {
    return await store.begin(scope, fingerprint, LEASE_MS);
  } catch (error) {
    onStoreError(error);
    throw retryLater('not_ready', 'Idempotent requests cannot be told apart right now.');
  }
};

/** The work is done or undone by now; a store that fails here costs a replay, never money. */
const quietly = async (work: Promise<unknown>, onStoreError: (error: unknown) => void): Promise<void> => {
  await work.catch(onStoreError);
};

const runLeased = async (
  { store, keepMs, onStoreError }: Replayable,
  lease: ReplayLease,
  run: () => Promise<Sent>,
): Promise<Sent> => {
  const renewal = setInterval(() => void quietly(store.renew(lease, LEASE_MS), onStoreError), RENEW_MS);
  try {
    const { status, body, replayed } = await run();
    const kept = status < 300 ? store.complete(lease, { status, body, keepMs }) : store.abandon(lease);
    await quietly(kept, onStoreError);
    return { status, body, replayed };
  } catch (error) {
    await quietly(store.abandon(lease), onStoreError);
    throw error;
  } finally {
    clearInterval(renewal);
  }
};

/** Runs a request at most once per key, or answers what it was answered before. Only 2xx is kept. */
export const runOnce = async (replayable: Replayable, run: () => Promise<Sent>): Promise<Sent> => {
  const begin = await begun(replayable);
  switch (begin.kind) {
    case 'started':
      return runLeased(replayable, begin.lease, run);
    case 'in_progress':
      throw problem('request_in_progress', 'A request with this Idempotency-Key is still running.');
    case 'reused':
      throw problem('idempotency_key_reused', 'This Idempotency-Key belongs to another request.');
    case 'replay':
      return { status: begin.status, body: begin.body, replayed: true };
  }
};
