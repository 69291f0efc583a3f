import { lazy, Suspense } from 'react';
import { Skeleton } from '../skeleton.tsx';
import { FiguresTable } from './figuresTable.tsx';
import type { DayLineProps } from './drawnLine.tsx';

const DrawnLine = lazy(async () => ({ default: (await import('./drawnLine.tsx')).DrawnLine }));

/** A figure by day, and a limit across it. The same figures stand in a table for those who do not see them. */
export function DayLine(props: DayLineProps) {
  const { label, name, days, limit, format } = props;
  const limits = limit === undefined ? [] : [limit];
  return (
    <figure aria-label={label} className="m-0">
      <div aria-hidden className="h-64">
        <Suspense fallback={<Skeleton className="h-64" />}>
          <DrawnLine {...props} />
        </Suspense>
      </div>
      <FiguresTable
        label={label}
        names={[name, ...limits.map((one) => one.name)]}
        rows={days.map(({ day, value }) => [day, format(value), ...limits.map((one) => format(one.value))])}
      />
    </figure>
  );
}
