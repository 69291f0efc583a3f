import type { z } from 'zod';
import { contentOf, type RecordedEvent } from './recorded.ts';
import type { JsonObject } from './json.ts';

/** An event that this version cannot read: an unknown type or version, or data against its schema. */
export class UndecodableEvent extends Error {
  override readonly name = 'UndecodableEvent';
  readonly stream: string;
  readonly revision: bigint;
  constructor(
    { stream, revision, type }: Pick<RecordedEvent, 'stream' | 'revision' | 'type'>,
    reason: string,
  ) {
    super(`${stream} revision ${revision.toString()} (${type}): ${reason}`);
    this.stream = stream;
    this.revision = revision;
  }
}

/** Lifts data of one version to the next. Pure; old events are upcast on read, never rewritten. */
export type Upcaster = (data: JsonObject) => JsonObject;

/** Upcasters of a type, from version 1 on: the first lifts 1 to 2. */
export type Upcasters = Readonly<Record<string, readonly Upcaster[]>>;

/** Encodes and decodes the events of one union. */
export interface Codec<Event> {
  /** Throws UndecodableEvent. */
  readonly decode: (recorded: RecordedEvent) => Event;
  /** The version that new events of this type are written in. */
  readonly versionOf: (type: string) => number;
}

const lift = (recorded: RecordedEvent, steps: readonly Upcaster[]): JsonObject => {
  const version = recorded.metadata['schema_version'];
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1)
    throw new UndecodableEvent(recorded, 'its metadata has no schema_version');
  if (version > steps.length + 1)
    throw new UndecodableEvent(recorded, `schema_version ${version} is newer than this program`);
  try {
    return steps.slice(version - 1).reduce((data, step) => step(data), contentOf(recorded).data);
  } catch (error) {
    throw new UndecodableEvent(recorded, `it cannot be lifted from version ${version}: ${String(error)}`);
  }
};

/** A codec over a discriminated union of events; decoding checks every member. */
export const eventCodec = <Event extends { readonly type: string }>(
  union: z.ZodType<Event>,
  upcasters: Upcasters = {},
): Codec<Event> => ({
  decode: (recorded) => {
    const data = lift(recorded, upcasters[recorded.type] ?? []);
    const parsed = union.safeParse({ type: recorded.type, data });
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw new UndecodableEvent(
      recorded,
      `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'does not fit'}`,
    );
  },
  versionOf: (type) => (upcasters[type]?.length ?? 0) + 1,
});
