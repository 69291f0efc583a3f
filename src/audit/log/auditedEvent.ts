import { categoryOfStream, type AnyEvent } from '../../../domain/catalogue.ts';
import type { RecordedEvent } from '../../../domain/ports/eventStore.ts';
import type { Finding } from '../findings.ts';

type AsRecorded<Event> = Event extends AnyEvent ? Omit<RecordedEvent, 'type' | 'data'> & Event : never;

/** An event as the auditor decoded it, with its place in the log. */
export type AuditedEvent = AsRecorded<AnyEvent>;
export type AuditedEventOf<Type extends AnyEvent['type']> = Extract<AuditedEvent, { type: Type }>;

/** Puts what was decoded in the place where it was recorded. */
export const auditedEvent = (recorded: RecordedEvent, { type, data }: AnyEvent): AuditedEvent =>
  ({
    id: recorded.id,
    stream: recorded.stream,
    revision: recorded.revision,
    position: recorded.position,
    metadata: recorded.metadata,
    type,
    data,
  }) as AuditedEvent;

const ACCOUNT = 'account-';

/** The tenant whose account a stream is; undefined for other streams. */
export const accountOf = (stream: string): string | undefined =>
  categoryOfStream(stream) === 'account' ? stream.slice(ACCOUNT.length) : undefined;

/** Where an event is, as findings say it. */
export const placeOf = ({
  stream,
  revision,
  position,
}: Pick<RecordedEvent, 'stream' | 'revision' | 'position'>): Pick<
  Finding,
  'stream' | 'revision' | 'position'
> => ({ stream, revision: revision.toString(), position: position.toString() });

/** When the command was given that made an event; empty where the metadata does not say. */
export const recordedAt = ({ metadata }: Pick<RecordedEvent, 'metadata'>): string => {
  const at = metadata['recorded_at'];
  return typeof at === 'string' ? at : '';
};
