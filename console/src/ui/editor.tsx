import { lazy, Suspense } from 'react';
import { Skeleton } from './states.tsx';
import type { DiffProps } from './loadedDiff.tsx';
import type { EditedText, JsonEditorProps } from './loadedEditor.tsx';

const LoadedDiff = lazy(() => import('./loadedDiff.tsx'));

/** Two texts side by side with what differs between them; equal parts are folded. */
export function Diff(props: DiffProps) {
  return (
    <Suspense fallback={<Skeleton className="h-40" />}>
      <LoadedDiff {...props} />
    </Suspense>
  );
}

const LoadedEditor = lazy(() => import('./loadedEditor.tsx'));

/**
 * JSON with colours, folding and its faults marked. Loaded when it is first shown; it has its height before: a
 * button below it must not move away under a press.
 */
export function JsonEditor({ height = '320px', ...props }: EditedText & Partial<JsonEditorProps>) {
  const loading = (
    <div style={{ height }}>
      <Skeleton className="h-40" />
    </div>
  );
  return (
    <Suspense fallback={loading}>
      <LoadedEditor height={height} {...props} />
    </Suspense>
  );
}
