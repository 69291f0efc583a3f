import { lazy, Suspense } from 'react';
import { Skeleton } from '../skeleton.tsx';
import type { JsonEditorProps } from './loadedEditor.tsx';

const Loaded = lazy(() => import('./loadedEditor.tsx'));

/** JSON with colours, folding and its faults marked. Loaded when it is first shown. */
export function JsonEditor(props: JsonEditorProps) {
  return (
    <Suspense fallback={<Skeleton className="h-40" />}>
      <Loaded {...props} />
    </Suspense>
  );
}
