import type { AnyEvent } from '../../../domain/catalogue.ts';
import type { RecordedEvent } from '../../../domain/ports/eventStore.ts';

/** The events that read models can be made of: all there are. */
export type DomainEvent = AnyEvent;

type AsRecorded<Event> = Event extends DomainEvent ? Omit<RecordedEvent, 'type' | 'data'> & Event : never;

/** An event as a projector gets it: decoded and upcast, with its place in the log. */
export type ProjectedEvent = AsRecorded<DomainEvent>;
export type ProjectedEventOf<Type extends DomainEvent['type']> = Extract<ProjectedEvent, { type: Type }>;

/** Turns a stored event into its current form; throws when it cannot. */
export type DecodeEvent = (recorded: RecordedEvent) => DomainEvent;

const ACCOUNT_PREFIX = 'account-';

/** Whose account an event of a stream `account-<tenant_id>` moves. */
export const tenantOf = ({ stream }: { readonly stream: string }): string => {
  if (!stream.startsWith(ACCOUNT_PREFIX)) throw new Error(`${stream} is not the stream of an account`);
  return stream.slice(ACCOUNT_PREFIX.length);
};

/** Narrows a batch to some types of event. */
export const only = <const Type extends DomainEvent['type']>(
  events: readonly ProjectedEvent[],
  ...types: readonly Type[]
): readonly ProjectedEventOf<Type>[] => {
  const wanted = new Set<string>(types);
  return events.filter((event): event is ProjectedEventOf<Type> => wanted.has(event.type));
};
