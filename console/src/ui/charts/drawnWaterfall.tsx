import {
  Bar,
  BarChart,
  CartesianGrid,
  LabelList,
  ReferenceLine,
  ResponsiveContainer,
  XAxis,
  YAxis,
} from 'recharts';
import { AXIS } from './look.ts';

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
