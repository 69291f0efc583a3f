import type { LogEvent } from '../../../api/events.ts';
import { sentenceOf, type EventData } from '../../../texts/eventSentences.ts';
import { coveredOf } from '../verification/chain.ts';

/** What is shown of an event; all of it is read from what was hashed. */
export interface EventWords {
  readonly what: string;
  readonly who: string | undefined;
  readonly why: string | undefined;
  readonly when: string | undefined;
  readonly request: string | undefined;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

const dataOf = (value: unknown): EventData =>
  typeof value === 'object' && value !== null ? (value as EventData) : {};

/** An actor is a word or has an ID. */
const actorOf = (value: unknown): string | undefined => {
  if (typeof value === 'string') return textOf(value);
  const said = dataOf(value);
  const parts = [
    said['kind'] ?? said['type'] ?? said['role'],
    said['key_id'] ?? said['id'] ?? said['subject'],
  ];
  return textOf(
    parts
      .map(textOf)
      .filter((part) => part !== undefined)
      .join(' '),
  );
};

/** What happened, who did it, why and when. */
export const wordsOf = (event: LogEvent): EventWords => {
  const covered = coveredOf(event) as {
    readonly type?: unknown;
    readonly data?: unknown;
    metadata?: unknown;
  };
  const [data, metadata] = [dataOf(covered.data), dataOf(covered.metadata)];
  return {
    what: sentenceOf(textOf(covered.type) ?? event.type, data),
    who: actorOf(metadata['actor']),
    why: textOf(data['reason']) ?? textOf(data['note']) ?? textOf(data['detail']),
    when: textOf(metadata['recorded_at']),
    request: textOf(metadata['correlation_id']),
  };
};
