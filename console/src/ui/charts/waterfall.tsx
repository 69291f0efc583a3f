import { lazy, Suspense } from 'react';
import { Skeleton } from '../skeleton.tsx';
import { FiguresTable } from './figuresTable.tsx';
import type { WaterfallProps } from './drawnWaterfall.tsx';

const DrawnWaterfall = lazy(async () => ({ default: (await import('./drawnWaterfall.tsx')).DrawnWaterfall }));

/** How one figure becomes another, step by step. */
export function Waterfall(props: WaterfallProps) {
  const { label, steps, format } = props;
  return (
    <figure aria-label={label} className="m-0">
      <div aria-hidden className="h-72">
        <Suspense fallback={<Skeleton className="h-72" />}>
          <DrawnWaterfall {...props} />
        </Suspense>
      </div>
      <FiguresTable
        label={label}
        names={[label]}
        rows={steps.map(({ name, value }) => [name, format(value)])}
      />
    </figure>
  );
}
