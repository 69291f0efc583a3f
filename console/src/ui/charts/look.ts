const COLORS = 6;

/** The colour of a series; again from the first after the last. */
export const colorAt = (index: number): string => `var(--chart-${String((index % COLORS) + 1)})`;

/** How axes look. */
export const AXIS = { stroke: 'var(--soft)', tickLine: false, axisLine: false, fontSize: 12 } as const;

/** How the box of figures under the pointer looks. */
export const BOX = {
  cursor: { fill: 'var(--sunken)' },
  contentStyle: {
    background: 'var(--raised)',
    border: '1px solid var(--line)',
    borderRadius: 8,
    color: 'var(--ink)',
  },
} as const;

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** A figure beside an axis, where there is little room: 12.3K. */
export const tick = (value: number): string => COMPACT.format(value).replace('-', '−');

/** 01-31 of 2026-01-31; the box under the pointer has the year. */
export const shortDay = (day: string): string => day.slice(5);
