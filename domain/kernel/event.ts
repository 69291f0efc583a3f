import { z } from 'zod';

/** One definition gives an event's type, its decoder and the JSON Schema that auditors read. */
export const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.strictObject({ type: z.literal(type), data: z.strictObject(shape) });

/** Who acts: an API key, or a part of the service itself (`system`). Never a plain key. */
export const actor = z.strictObject({
  key_id: z.string(),
  role: z.enum(['tenant', 'service', 'admin', 'system']),
});
export type Actor = z.output<typeof actor>;

const acted = z.object({ actor });

/** Who acted, by the metadata of an event: the `key_id` of its actor. */
export const actorIn = (metadata: Readonly<Record<string, unknown>>): string | null =>
  acted.safeParse(metadata).data?.actor.key_id ?? null;

/** Where an event was appended, in a trace: W3C trace context of the append's span. */
export const traceparent = z.string().regex(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/);

/** Metadata stored beside every event. `hash` is made of the rest and of the event: see `chain.ts`. */
export const eventMetadata = z.strictObject({
  schema_version: z.number().int().min(1),
  correlation_id: z.string(),
  causation_id: z.string(),
  actor,
  tenant_id: z.string().nullable(),
  recorded_at: z.iso.datetime({ precision: 3 }),
  prev_hash: z.string().nullable(),
  /** What `hash` covers. Left out by version 1. */
  hash_version: z.literal([1, 2]).optional(),
  /** Left out where no trace was recorded. */
  traceparent: traceparent.optional(),
  hash: z.string(),
});
