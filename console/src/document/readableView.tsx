import { useEffect, useState, lazy, Suspense, useMemo } from 'react';
import { previewKind, wantedOf } from './preview.ts';
import type { PreviewAsked, PreviewTold } from './preview.worker.ts';
import { playground as texts } from '../texts/playground.ts';
import { Button } from '../ui/button.tsx';
import { ProblemNote, Skeleton } from '../ui/states.tsx';
import { Going, type Conversion } from './conversion.tsx';
import type { ValueRow } from './values.ts';
import { Cited } from './cited.tsx';

/** A file may be made to be slow: then it is not shown. */
const PREVIEW_MS = 10_000;
/** A larger one is for the service. */
const BYTES_MAX = 20 * 1024 * 1024;

type Preview =
  | { readonly kind: 'reading' | 'none' }
  | { readonly kind: 'markdown'; readonly markdown: string };

const NONE: Preview = { kind: 'none' };

/** What the browser itself makes of a document: in a thread of its own, which ends with it. */
const usePreview = (file: File): Preview => {
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

const MarkedMarkdown = lazy(async () => ({
  default: (await import('./markdownView.tsx')).MarkedMarkdown,
}));

interface ReadableProps {
  readonly file: File;
  readonly rows: readonly ValueRow[];
  readonly chosen: string | undefined;
  readonly conversion?: Conversion;
}

/** Of a text, so much is shown beside its values. */
const TEXT_MAX = 200_000;

const useWanted = ({ rows, chosen }: Pick<ReadableProps, 'rows' | 'chosen'>) =>
  useMemo(() => (chosen === undefined ? undefined : wantedOf(rows, chosen)), [rows, chosen]);

/** A text as it is. */
export function PlainView({ file, ...given }: ReadableProps) {
  const [text, keep] = useState('');
  const wanted = useWanted(given);
  useEffect(() => {
    void file.slice(0, TEXT_MAX).text().then(keep);
  }, [file]);
  return (
    <Cited text={text} wanted={wanted}>
      <pre className="font-mono text-[13px] break-words whitespace-pre-wrap">{text}</pre>
    </Cited>
  );
}

/** Only the service can read it, which costs credits: nothing is done unasked. */
function NotDrawn({ conversion }: Pick<ReadableProps, 'conversion'>) {
  if (conversion === undefined) return <p className="text-soft">{texts.notShown}</p>;
  const { error, isPending, convert, step, stop, credits } = conversion;
  return (
    <div className="flex flex-col items-start gap-3">
      <p className="text-soft">{texts.notDrawn(credits)}</p>
      <ProblemNote error={error} onRetry={() => void convert()} />
      {isPending ? (
        <Going step={step} onStop={stop} />
      ) : (
        <Button onClick={() => void convert()}>{texts.results.convert}</Button>
      )}
    </div>
  );
}

/** A document without pages to draw, as markdown: the service's where it was converted, else what the browser reads. */
export function ReadableView({ file, rows, chosen, conversion }: ReadableProps) {
  const preview = usePreview(file);
  const wanted = useWanted({ rows, chosen });
  const converted = conversion?.data?.markdown;
  const markdown = converted ?? (preview.kind === 'markdown' ? preview.markdown : undefined);
  if (markdown === undefined)
    return preview.kind === 'reading' ? (
      <Skeleton lines={8} />
    ) : (
      <NotDrawn {...(conversion && { conversion })} />
    );
  return (
    <Suspense fallback={<Skeleton lines={8} />}>
      <p className="mb-3 border-b border-line pb-2 text-[13px] text-soft">
        {converted === undefined ? texts.asBrowserReads : texts.asServiceReads}
      </p>
      <MarkedMarkdown markdown={markdown} wanted={wanted} />
    </Suspense>
  );
}
