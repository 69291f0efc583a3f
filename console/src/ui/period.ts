/** A calendar month of UTC as the reports take it; both ends are inclusive. */
export interface Period {
  /** `YYYY-MM` */
  readonly month: string;
  readonly first: string;
  readonly last: string;
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;

/** The month of a time, `YYYY-MM`, or one that lies so many after it. */
export const monthOf = (time: number, after = 0): string => {
  const date = new Date(time);
  return dayOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + after, 1)).slice(0, 7);
};

/** The days of a month; for a text that is no month, those of another one. */
export const periodOf = (text: string | undefined, other: string): Period => {
  const month = text !== undefined && MONTH.test(text) ? text : other;
  const [year = 0, number = 0] = month.split('-').map(Number);
  return { month, first: `${month}-01`, last: dayOf(Date.UTC(year, number, 0)) };
};

interface Pace {
  /** Steps that are done, and all of them. */
  readonly done: number;
  readonly total: number;
  /** What those that are done took. */
  readonly ms: number;
}

/** Seconds that the other steps take, if they take as long as those that are done; undefined: none is, or all are. */
export const secondsLeft = ({ done, total, ms }: Pace): number | undefined =>
  done < 1 || done >= total ? undefined : Math.max(1, Math.ceil(((ms / done) * (total - done)) / 1_000));
