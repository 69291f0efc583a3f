import { lazy, Suspense } from 'react';
import { Skeleton } from '../skeleton.tsx';
import type { DiffProps } from './loadedDiff.tsx';

const LoadedDiff = lazy(() => import('./loadedDiff.tsx'));

/** Two texts side by side with what differs between them; equal parts are folded. */
export function Diff(props: DiffProps) {
  return (
    <Suspense fallback={<Skeleton className="h-40" />}>
      <LoadedDiff {...props} />
    </Suspense>
  );
}
