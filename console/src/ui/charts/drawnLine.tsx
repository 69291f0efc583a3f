import {
  Area,
  AreaChart,
  CartesianGrid,
  ReferenceLine,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';
import { AXIS, BOX, shortDay, tick } from './look.ts';

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
