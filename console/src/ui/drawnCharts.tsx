import {
  Bar,
  BarChart,
  CartesianGrid,
  Legend,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
  Area,
  AreaChart,
  ReferenceLine,
  LabelList,
  Line,
  LineChart,
} from 'recharts';

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

export interface Series {
  readonly id: string;
  readonly name: string;
}

export interface DayBarsProps {
  readonly label: string;
  readonly days: readonly { readonly day: string; readonly values: Readonly<Record<string, number>> }[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
}

/** Loaded with recharts when the first chart is shown. */
export function DrawnDays({ days, series, format }: DayBarsProps) {
  const rows = days.map(({ day, values }) => ({ day, ...values }));
  return (
    <ResponsiveContainer width="100%" height="100%">
      <BarChart accessibilityLayer={false} data={rows} margin={{ left: 8, right: 8 }}>
        <CartesianGrid vertical={false} stroke="var(--line)" />
        <XAxis dataKey="day" {...AXIS} tickFormatter={shortDay} minTickGap={24} />
        <YAxis {...AXIS} width={64} tickFormatter={tick} />
        <Tooltip {...BOX} formatter={(value) => format(Number(value))} />
        <Legend />
        {series.map(({ id, name }, index) => (
          <Bar
            key={id}
            dataKey={id}
            name={name}
            stackId="all"
            fill={colorAt(index)}
            isAnimationActive={false}
          />
        ))}
      </BarChart>
    </ResponsiveContainer>
  );
}

export interface DayLineProps {
  readonly label: string;
  /** What is drawn. */
  readonly name: string;
  readonly days: readonly { readonly day: string; readonly value: number }[];
  /** Drawn across, dashed. */
  readonly limit?: { readonly name: string; readonly value: number } | undefined;
  readonly format: (value: number) => string;
}

const limitLabel = (value: string) =>
  ({ value, position: 'insideTopLeft', fill: 'var(--warn)', fontSize: 12 }) as const;

/** Loaded with recharts when the first chart is shown. */
export function DrawnLine({ name, days, limit, format }: DayLineProps) {
  return (
    <ResponsiveContainer width="100%" height="100%">
      <AreaChart accessibilityLayer={false} data={[...days]} margin={{ top: 8, left: 8, right: 8 }}>
        <CartesianGrid vertical={false} stroke="var(--line)" />
        <XAxis dataKey="day" {...AXIS} tickFormatter={shortDay} minTickGap={24} />
        <YAxis {...AXIS} width={64} tickFormatter={tick} />
        <Tooltip {...BOX} formatter={(value) => format(Number(value))} />
        <Area
          type="stepAfter"
          dataKey="value"
          name={name}
          stroke="var(--chart-1)"
          strokeWidth={2}
          fill="var(--chart-1)"
          fillOpacity={0.12}
          isAnimationActive={false}
        />
        {limit !== undefined && (
          <ReferenceLine
            y={limit.value}
            ifOverflow="extendDomain"
            stroke="var(--warn)"
            strokeDasharray="6 4"
            label={limitLabel(limit.name)}
          />
        )}
      </AreaChart>
    </ResponsiveContainer>
  );
}

export interface Step {
  readonly name: string;
  /** What it adds or takes; of a total, its height. */
  readonly value: number;
  /** Stands on the ground instead of on the step before. */
  readonly isTotal?: boolean;
}

export interface WaterfallProps {
  readonly label: string;
  readonly steps: readonly Step[];
  readonly format: (value: number) => string;
}

interface Placed {
  readonly name: string;
  readonly span: readonly [number, number];
  readonly text: string;
  readonly fill: string;
}

const colorOf = ({ value, isTotal }: Step): string => {
  if (isTotal === true) return 'var(--chart-1)';
  return value < 0 ? 'var(--bad)' : 'var(--good)';
};

const placed = (steps: readonly Step[], format: (value: number) => string): readonly Placed[] => {
  let level = 0;
  return steps.map((step) => {
    const from = step.isTotal === true ? 0 : level;
    level = from + step.value;
    // from low to high: what is written above a bar stands above it whatever its sign
    const span = [Math.min(from, level), Math.max(from, level)] as const;
    return { name: step.name, span, text: format(step.value), fill: colorOf(step) };
  });
};

/** Loaded with recharts when the first chart is shown. */
export function DrawnWaterfall({ steps, format }: WaterfallProps) {
  const rows = placed(steps, format);
  return (
    <ResponsiveContainer width="100%" height="100%">
      <BarChart accessibilityLayer={false} data={[...rows]} margin={{ top: 24, left: 8, right: 8 }}>
        <CartesianGrid vertical={false} stroke="var(--line)" />
        <XAxis dataKey="name" {...AXIS} interval={0} />
        <YAxis {...AXIS} width={72} tickFormatter={format} />
        <ReferenceLine y={0} stroke="var(--soft)" />
        <Bar dataKey="span" isAnimationActive={false}>
          <LabelList dataKey="text" position="top" fill="var(--ink)" fontSize={12} />
        </Bar>
      </BarChart>
    </ResponsiveContainer>
  );
}

export interface CurveProps {
  readonly label: string;
  /** What stands along the axis below. */
  readonly along: string;
  readonly series: readonly Series[];
  /** From left to right; a series that has no value there is left out. 0 to 1. */
  readonly points: readonly { readonly at: number; readonly values: Readonly<Record<string, number>> }[];
  readonly format: (value: number) => string;
}

const SHARES = [0, 0.25, 0.5, 0.75, 1];

/** Loaded with recharts when the first chart is shown. */
export function DrawnCurve({ along, series, points, format }: CurveProps) {
  const rows = points.map(({ at, values }) => ({ at, ...values }));
  const below = {
    value: along,
    position: 'insideBottom',
    offset: -2,
    fill: 'var(--soft)',
    fontSize: 12,
  } as const;
  return (
    <ResponsiveContainer width="100%" height="100%">
      <LineChart accessibilityLayer={false} data={rows} margin={{ top: 8, left: 8, right: 24, bottom: 12 }}>
        <CartesianGrid vertical={false} stroke="var(--line)" />
        <XAxis
          dataKey="at"
          type="number"
          domain={['dataMin', 'dataMax']}
          ticks={points.map(({ at }) => at)}
          {...AXIS}
          label={below}
        />
        <YAxis {...AXIS} width={64} domain={[0, 1]} ticks={SHARES} tickFormatter={format} />
        <Tooltip
          {...BOX}
          labelFormatter={(at) => `${along} ${String(Number(at))}`}
          formatter={(value) => format(Number(value))}
        />
        {series.length > 1 && <Legend />}
        {series.map(({ id, name }, index) => (
          <Line
            key={id}
            dataKey={id}
            name={name}
            stroke={colorAt(index)}
            strokeWidth={2}
            connectNulls
            dot={{ r: 4, fill: colorAt(index) }}
            isAnimationActive={false}
          />
        ))}
      </LineChart>
    </ResponsiveContainer>
  );
}
