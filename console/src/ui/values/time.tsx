const SHOWN = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' });

/** A time in the reader's zone; UTC stands in its title. */
export function Time({ at, isDay }: { at: string | null | undefined; isDay?: boolean }) {
  const time = at === null || at === undefined ? Number.NaN : Date.parse(at);
  if (Number.isNaN(time)) return <span className="text-soft">–</span>;
  return (
    <time dateTime={at ?? ''} title={`${new Date(time).toISOString()} (UTC)`} className="whitespace-nowrap">
      {(isDay === true ? DAY : SHOWN).format(time)}
    </time>
  );
}
