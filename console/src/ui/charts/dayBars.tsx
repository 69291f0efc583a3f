import { lazy, Suspense } from 'react';
import { Skeleton } from '../skeleton.tsx';
import { FiguresTable } from './figuresTable.tsx';
import type { DayBarsProps } from './drawnDays.tsx';

const DrawnDays = lazy(async () => ({ default: (await import('./drawnDays.tsx')).DrawnDays }));

/** Stacked bars, one a day. The same figures stand in a table for those who do not see them. */
export function DayBars(props: DayBarsProps) {
  const { label, days, series, format } = props;
  return (
    <figure aria-label={label} className="m-0">
      <div aria-hidden className="h-64">
        <Suspense fallback={<Skeleton className="h-64" />}>
          <DrawnDays {...props} />
        </Suspense>
      </div>
      <FiguresTable
        label={label}
        names={series.map(({ name }) => name)}
        rows={days.map(({ day, values }) => [day, ...series.map(({ id }) => format(values[id] ?? 0))])}
      />
    </figure>
  );
}
