import type { AnyEvent } from '../../../domain/catalogue.ts';
import type { RecordedEvent } from '../../../domain/ports/log.ts';

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
    stored: recorded.stored,
    type,
    data,
  }) as AuditedEvent;

/** Stores hand out data and metadata as they lie there, and parse them when they are looked at. */
export const isJson = (recorded: RecordedEvent): boolean => {
  try {
    return typeof recorded.data === 'object' && typeof recorded.metadata === 'object';
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
};

const ACCOUNT = 'account-';

/** The tenant whose account a stream is; undefined for other streams. */
export const accountOf = (stream: string): string | undefined => {
  if (stream.startsWith(ACCOUNT)) return stream.slice(ACCOUNT.length);
  return stream === 'account' ? '' : undefined;
};

/** When the command was given that made an event; empty where the metadata does not say. */
export const recordedAt = ({ metadata }: Pick<RecordedEvent, 'metadata'>): string => {
  const at = metadata['recorded_at'];
  return typeof at === 'string' ? at : '';
};

/** What is done with events, by their type. */
type Handlers<Context extends readonly unknown[]> = {
  readonly [Type in AuditedEvent['type']]?: (event: AuditedEventOf<Type>, ...context: Context) => void;
};

/** Hands each event to the handler of its type; others are passed over. */
export const byType =
  <Context extends readonly unknown[] = []>(handlers: Handlers<Context>) =>
  (event: AuditedEvent, ...context: Context): void => {
    const handle = handlers[event.type] as ((event: AuditedEvent, ...context: Context) => void) | undefined;
    handle?.(event, ...context);
  };
