import type { MarkdownResult } from '@quire/client';
import { lazy, Suspense, type ReactNode } from 'react';
import { playground } from '../texts/playground.ts';
import { Button } from '../ui/button.tsx';
import { ProgressBar, ProblemNote, Skeleton } from '../ui/states.tsx';
import type { Step } from './reading.ts';
import { Badge } from '../ui/card.tsx';
import { Downloads } from '../ui/download.tsx';
import { filesOf } from './files.ts';
import { Tabs } from '../ui/tabs.tsx';

const { run: runTexts } = playground;

/** How far work is, with the button that stops it. */
export function Going({ step, onStop }: { step: Step | undefined; onStop: () => void }) {
  const { kind, done, total, left }: Step = step ?? { kind: 'reading', done: 0, total: 0 };
  const name = runTexts[kind];
  const far = kind === 'sending' ? runTexts.bytesSent(done, total) : runTexts.pagesDone(done, total, left);
  return (
    <div className="flex flex-wrap items-center gap-3">
      <Button onClick={onStop}>{runTexts.stop}</Button>
      <span className="flex items-center gap-2" role="status">
        <ProgressBar label={name} {...(total > 0 ? { value: done, max: total } : {})} />
        <span className="text-soft">{total > 0 ? far : name}</span>
      </span>
    </div>
  );
}

const { results: texts } = playground;

const MarkdownView = lazy(async () => ({ default: (await import('./markdownView.tsx')).MarkdownView }));

/** The conversion of a document, or the way to it. */
export interface Conversion {
  readonly data: MarkdownResult | undefined;
  readonly error: unknown;
  readonly isPending: boolean;
  /** Gives nothing where it failed or was stopped. */
  readonly convert: () => Promise<MarkdownResult | undefined>;
  readonly step: Step | undefined;
  readonly stop: () => void;
  readonly credits: number | undefined;
}

interface ConvertedProps {
  readonly conversion: Conversion;
  readonly children: (result: MarkdownResult) => ReactNode;
}

/** Shows what the conversion gave; before it, what it costs and a button. */
export function Converted({ conversion, children }: ConvertedProps) {
  const { data, error, isPending, convert, step, stop, credits } = conversion;
  if (data !== undefined) return children(data);
  if (isPending)
    return (
      <div className="flex flex-col gap-3">
        <Going step={step} onStop={stop} />
        <Skeleton lines={6} />
      </div>
    );
  return (
    <div className="flex flex-col items-start gap-3">
      <p className="text-soft">{texts.convertSay(credits)}</p>
      <ProblemNote error={error} onRetry={() => void convert()} />
      <Button onClick={() => void convert()}>{texts.convert}</Button>
    </div>
  );
}

function Source({ text, label }: { text: string; label: string }) {
  return (
    <pre
      tabIndex={0}
      role="region"
      aria-label={label}
      className="max-h-[60vh] overflow-auto rounded bg-sunken p-3 font-mono text-[13px] break-words whitespace-pre-wrap"
    >
      {text}
    </pre>
  );
}

/** Markdown as it reads and as it is written. */
export function MarkdownTab({ result }: { result: MarkdownResult }) {
  return (
    <div className="flex flex-col gap-3">
      <Tabs
        label={texts.shown}
        tabs={[
          {
            id: 'rendered',
            name: texts.rendered,
            content: (
              <div
                tabIndex={0}
                role="region"
                aria-label={texts.markdown}
                className="max-h-[60vh] overflow-auto"
              >
                <Suspense fallback={<Skeleton lines={6} />}>
                  <MarkdownView markdown={result.markdown} />
                </Suspense>
              </div>
            ),
          },
          {
            id: 'source',
            name: texts.source,
            content: <Source label={texts.source} text={result.markdown} />,
          },
        ]}
      />
      <Downloads files={filesOf(result, result.meta.file_name ?? result.meta.document_id)} />
    </div>
  );
}

/** The words alone. */
export function TextTab({ result }: { result: MarkdownResult }) {
  return <Source label={texts.text} text={result.plain_text} />;
}

/** Of a table its cells, row by row. */
const blockText = ({ text, cells = [] }: { text?: string; cells?: readonly { text: string }[] }): string =>
  text ?? cells.map((cell) => cell.text).join(' · ');

/** Blocks in reading order. */
export function BlocksTab({ result }: { result: MarkdownResult }) {
  return (
    <ol tabIndex={0} aria-label={texts.blocks} className="max-h-[60vh] divide-y divide-line overflow-auto">
      {result.pages?.flatMap(({ page, blocks = [] }) =>
        blocks.map((block, at) => (
          <li key={`${String(page)} ${String(at)}`} className="flex items-start gap-2 py-1.5">
            <Badge>{block.type}</Badge>
            <span className="min-w-0 flex-1 break-words">{blockText(block)}</span>
            <span className="text-[13px] text-soft">{texts.onPage(page)}</span>
          </li>
        )),
      )}
    </ol>
  );
}
