/** A calendar month of UTC as the reports take it; both ends are inclusive. */
export interface Period {
  /** `YYYY-MM` */
  readonly month: string;
  readonly first: string;
  readonly last: string;
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** The month of a time, `YYYY-MM`. */
const monthOf = (time: number): string => dayOf(time).slice(0, 7);

/** The days of a month; a text that is no month is the one of `now`. */
export const periodOf = (text: string | undefined, now: number): Period => {
  const month = text !== undefined && /^\d{4}-(0[1-9]|1[0-2])$/.test(text) ? text : monthOf(now);
  const [year = 0, number = 0] = month.split('-').map(Number);
  return { month, first: `${month}-01`, last: dayOf(Date.UTC(year, number, 0)) };
};
