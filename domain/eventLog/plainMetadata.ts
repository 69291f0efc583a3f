import type { JsonObject } from '../kernel/json.ts';

/** Metadata of an event, read from text that the service writes for most events. */
export interface PlainMetadata {
  readonly metadata: JsonObject;
  /** The text without `hash`: what the event's hash covers of it. */
  readonly covered: string;
}

/** No character that JSON escapes, and no half of a surrogate pair. */
const TEXT = '([^"\\\\\\u0000-\\u001f\\ud800-\\udfff]*)';
const HASH = '[0-9a-f]{64}';
const DAY =
  '(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))';
const TIME = `\\d{4}-${DAY}T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z`;

const BEFORE_HASH =
  `{"actor":{"key_id":"${TEXT}","role":"(tenant|service|admin|system)"},` +
  `"causation_id":"${TEXT}","correlation_id":"${TEXT}",`;
const AFTER_HASH =
  `"hash_version":2,"prev_hash":(?:null|"(${HASH})"),"recorded_at":"(${TIME})",` +
  `"schema_version":([1-9]\\d{0,8}),"tenant_id":(?:null|"${TEXT}")` +
  `(?:,"traceparent":"(00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2})")?}`;

/** Members in canonical order, each once, none but these, and each as the schema has it. */
const PLAIN_METADATA = new RegExp(`^(${BEFORE_HASH})"hash":"(${HASH})",(${AFTER_HASH})$`);

/** What the pattern finds. */
type Found = readonly [
  whole: string,
  before: string,
  key_id: string,
  role: string,
  causation_id: string,
  correlation_id: string,
  hash: string,
  after: string,
  prev_hash: string | undefined,
  recorded_at: string,
  schema_version: string,
  tenant_id: string | undefined,
  traceparent: string | undefined,
];

/**
 * Metadata of hash version 2, from text in canonical form. What this reads fits the schema of metadata
 * and is as the log writes it. undefined: it has to be read, and checked, as any JSON.
 */
export const plainMetadata = (text: string): PlainMetadata | undefined => {
  const found = PLAIN_METADATA.exec(text) as unknown as Found | null;
  if (found === null) return undefined;
  const [, before, key_id, role, causation_id, correlation_id, hash, after, prev_hash = null, recorded_at] =
    found;
  const [schema_version, tenant_id = null, traceparent] = [found[10], found[11], found[12]];
  return {
    covered: before + after,
    metadata: {
      actor: { key_id, role },
      causation_id,
      correlation_id,
      hash,
      hash_version: 2,
      prev_hash,
      recorded_at,
      schema_version: Number(schema_version),
      tenant_id,
      ...(traceparent !== undefined && { traceparent }),
    },
  };
};
