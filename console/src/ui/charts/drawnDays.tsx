import { Bar, BarChart, CartesianGrid, Legend, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { AXIS, BOX, colorAt, shortDay, tick } from './look.ts';

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
