import type { AllStreamResolvedEvent, ResolvedEvent } from '@eventstore/db-client';
import { isLeftOut } from '../../domain/kernel/ownStreams.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { RecordedEvent } from '../../domain/ports/eventStore.ts';

/** What the server resolved, as an event of ours; undefined for a link or a deleted event. */
export const recorded = (resolved: ResolvedEvent | AllStreamResolvedEvent): RecordedEvent | undefined => {
  const { event } = resolved;
  if (event === undefined) return undefined;
  const { id, type, streamId: stream, revision, data, metadata, isJson } = event;
  if (!isJson || !isObject(data)) throw new Error(`event ${id} in ${stream} is not a JSON object`);

  const position = event.position?.commit ?? resolved.commitPosition;
  if (position === undefined)
    throw new Error('the server sends no positions with events: version 22.6 or later is needed');
  return { id, type, stream, revision, position, data, metadata: isObject(metadata) ? metadata : {} };
};

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);

/**
 * What a feed leaves out: what the server wrote for itself (event types that start with `$` too), snapshots,
 * and unless they are wanted the events about the log itself.
 */
export const isSystem = (
  { event }: AllStreamResolvedEvent,
  options: { readonly own?: boolean } = {},
): boolean => event === undefined || event.type.startsWith('$') || isLeftOut(event.streamId, options);
