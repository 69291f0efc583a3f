import type { z } from 'zod';
import type { RecordedEvent } from '../ports/eventStore.ts';
import type { JsonObject } from './json.ts';

/** One step up: the data of an old version as the next version has it. Pure, and never lossy. */
export type Upcaster = (data: JsonObject) => JsonObject;

/**
 * Steps of each event type that has old versions, oldest first: the first lifts version 1 to 2, so the
 * version written today is the number of steps + 1. Types without an entry are at version 1.
 */
export type Upcasters = Readonly<Record<string, readonly Upcaster[]>>;

/** An event as read: only these members matter to a codec. */
export type Encoded = Pick<RecordedEvent, 'stream' | 'revision' | 'type' | 'data' | 'metadata'>;

/** Reads and writes the events of one kind of stream. */
export interface EventCodec<Event> {
  /** Lifts old versions, then checks against the schema. Throws `UndecodableEvent`. */
  readonly decode: (recorded: Encoded) => Event;
  /** Type, data and `schema_version` to store. Throws when the event does not fit its own schema. */
  readonly encode: (event: Event) => { type: string; data: JsonObject; schema_version: number };
  /** The version of an event type that is written today. */
  readonly versionOf: (type: string) => number;
  /** Event types that this codec knows. */
  readonly types: readonly string[];
}

/** An event that this version of the service cannot read. It names where the event is, and why. */
export class UndecodableEvent extends Error {
  override readonly name = 'UndecodableEvent';
  readonly stream: string;
  readonly revision: bigint;
  readonly reason: string;
  constructor({ stream, revision }: Pick<Encoded, 'stream' | 'revision'>, reason: string, cause?: unknown) {
    super(`event ${String(revision)} of stream ${stream} cannot be decoded: ${reason}`, { cause });
    this.stream = stream;
    this.revision = revision;
    this.reason = reason;
  }
}

/** What every event has; the schemas of `event(…)` are unions of these. */
interface AnyEvent {
  readonly type: string;
  readonly data: object;
}

/** A discriminated union of `event(…)` schemas. */
type EventUnion<Event extends AnyEvent> = z.ZodType<Event> & {
  readonly options: readonly { readonly shape: { readonly type: { readonly value: unknown } } }[];
};

export const eventCodec = <Event extends AnyEvent>(
  schema: EventUnion<Event>,
  upcasters: Upcasters = {},
): EventCodec<Event> => {
  const types = schema.options.map(({ shape }) => String(shape.type.value));
  const known = new Set(types);
  const versionOf = (type: string) => (upcasters[type]?.length ?? 0) + 1;

  const decode = (recorded: Encoded): Event => {
    const { type } = recorded;
    if (!known.has(type)) throw new UndecodableEvent(recorded, `unknown type ${type}`);
    const data = lifted(recorded, upcasters[type] ?? []);
    const parsed = schema.safeParse({ type, data });
    if (parsed.success) return parsed.data;
    throw new UndecodableEvent(recorded, issuesOf(parsed.error), parsed.error);
  };

  const encode = (event: Event) => {
    const { type, data } = schema.parse(event);
    return { type, data: data as JsonObject, schema_version: versionOf(type) };
  };
  return { decode, encode, versionOf, types };
};

const lifted = (recorded: Encoded, steps: readonly Upcaster[]): JsonObject => {
  const version = recorded.metadata['schema_version'];
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1)
    throw new UndecodableEvent(recorded, 'no schema_version');
  const current = steps.length + 1;
  if (version > current)
    throw new UndecodableEvent(
      recorded,
      `version ${version} of ${recorded.type} is newer than ${current}, the latest that is known here`,
    );
  if (version === current) return recorded.data;
  try {
    return steps.slice(version - 1).reduce((data, step) => step(data), recorded.data);
  } catch (error) {
    throw new UndecodableEvent(recorded, `upcasting version ${version} failed: ${String(error)}`, error);
  }
};

const issuesOf = ({ issues }: z.ZodError): string =>
  issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
