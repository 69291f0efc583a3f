import process from 'node:process';

/** What a benchmark comes to, by names that `npm run bench` has in its table; a benchmark run alone tells nobody. */
export type Figures = Readonly<Record<string, number>>;

/** Tells `npm run bench`, where that has started this process. */
export const tellFigures = (figures: Figures): void => {
  process.send?.(figures);
};

/** Whether a load is one of those that `BENCH_ONLY` names: parts of titles between `|`; undefined: all are. */
export const isAsked = (title: string, only: string | undefined): boolean =>
  only === undefined || only.split('|').some((part) => title.includes(part));

/** How many tenants a load has, in the names of figures. */
export const tenantsName = (tenants: number): string => (tenants === 1 ? 'one hot tenant' : 'many tenants');
