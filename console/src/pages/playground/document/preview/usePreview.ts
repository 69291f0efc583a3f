import { useEffect, useState } from 'react';
import { previewKind } from './kinds.ts';
import type { PreviewAsked, PreviewTold } from './preview.worker.ts';

/** A file may be made to be slow: then it is not shown. */
const PREVIEW_MS = 10_000;
/** A larger one is for the service. */
const BYTES_MAX = 20 * 1024 * 1024;

export type Preview =
  { readonly kind: 'reading' | 'none' } | { readonly kind: 'markdown'; readonly markdown: string };

const NONE: Preview = { kind: 'none' };

/** What the browser itself makes of a document: in a thread of its own, which ends with it. */
export const usePreview = (file: File): Preview => {
  const [preview, keep] = useState<Preview>({ kind: 'reading' });
  useEffect(() => {
    const kind = previewKind(file);
    if (kind === undefined || file.size > BYTES_MAX) {
      keep(NONE);
      return;
    }
    const worker = new Worker(new URL('./preview.worker.ts', import.meta.url), { type: 'module' });
    const end = (found: Preview): void => {
      clearTimeout(late);
      worker.terminate();
      keep(found);
    };
    const late = setTimeout(() => end(NONE), PREVIEW_MS);
    worker.addEventListener('message', ({ data: { markdown } }: MessageEvent<PreviewTold>) =>
      end(markdown === undefined ? NONE : { kind: 'markdown', markdown }),
    );
    worker.addEventListener('error', () => end(NONE));
    worker.postMessage({ file, kind } satisfies PreviewAsked);
    return () => {
      clearTimeout(late);
      worker.terminate();
    };
  }, [file]);
  return preview;
};
