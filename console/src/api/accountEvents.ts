import { useQuery } from '@tanstack/react-query';
import { eventsOf, type LogEvent } from './events.ts';

/** How far back the event of a booking is looked for: others may have been recorded since. */
const LOOKED_AT = 50;

const lastWith = async (
  { stream, member, value }: { readonly stream: string; readonly member: string; readonly value: string },
  signal: AbortSignal,
): Promise<LogEvent | null> => {
  const asked = { stream, direction: 'backwards', limit: LOOKED_AT } as const;
  for await (const event of eventsOf(asked, signal)) if (event.data?.[member] === value) return event;
  return null;
};

/** The event of a stream that has `value` in its member `member`, as it was just recorded; null: none. */
export const useEventWith = (stream: string, member: string, value: string) =>
  useQuery({
    queryKey: ['eventOf', stream, member, value],
    queryFn: ({ signal }) => lastWith({ stream, member, value }, signal),
  });
