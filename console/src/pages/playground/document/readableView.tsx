import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { playground as texts } from '../../../texts/playground.ts';
import { Button } from '../../../ui/button.tsx';
import { ProblemNote } from '../../../ui/problemNote.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { Going } from '../reading/going.tsx';
import type { Conversion } from '../results/conversion.tsx';
import type { ValueRow } from '../values.ts';
import { Cited } from './preview/cited.tsx';
import { usePreview } from './preview/usePreview.ts';
import { wantedOf } from './preview/wanted.ts';

const MarkedMarkdown = lazy(async () => ({
  default: (await import('./preview/markedMarkdown.tsx')).MarkedMarkdown,
}));

interface ReadableProps {
  readonly file: File;
  readonly rows: readonly ValueRow[];
  readonly chosen: string | undefined;
  readonly conversion: Conversion;
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
  const converted = conversion.data?.markdown;
  const markdown = converted ?? (preview.kind === 'markdown' ? preview.markdown : undefined);
  if (markdown === undefined)
    return preview.kind === 'reading' ? <Skeleton lines={8} /> : <NotDrawn conversion={conversion} />;
  return (
    <Suspense fallback={<Skeleton lines={8} />}>
      <p className="mb-3 border-b border-line pb-2 text-[13px] text-soft">
        {converted === undefined ? texts.asBrowserReads : texts.asServiceReads}
      </p>
      <MarkedMarkdown markdown={markdown} wanted={wanted} />
    </Suspense>
  );
}
