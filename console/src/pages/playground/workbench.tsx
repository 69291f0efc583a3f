import type { MarkdownResult } from '@quire/client';
import { useMemo, useState } from 'react';
import { useRead } from '../../api/hooks.ts';
import { useTenantId } from '../../api/useSession.ts';
import { playground } from '../../texts/playground.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';
import { DocumentView } from './document/documentView.tsx';
import type { Marked } from './document/overlay.tsx';
import { useReading } from './reading/useReading.ts';
import { MARKDOWN, VALUES, type Asked } from './reading/ways.ts';
import type { Conversion } from './results/conversion.tsx';
import type { Choosing } from './results/dataTab.tsx';
import { Results } from './results/results.tsx';
import { RunBar } from './runBar.tsx';
import { SchemaPanel } from './schema/schemaPanel.tsx';
import { useProposing } from './schema/proposing.tsx';
import { readSchema, valueRows, type ValueRow } from './values.ts';

const marksOf = (rows: readonly ValueRow[]): readonly Marked[] =>
  rows.flatMap(({ path, citation }) =>
    citation?.bbox == null ? [] : [{ path, page: citation.page, box: citation.bbox }],
  );

/** What one chose and corrected among the values of one answer. */
const useChoosing = (): Choosing & { readonly forget: () => void } => {
  const [chosen, choose] = useState<string>();
  const [editing, edit] = useState<{ path: string; text: string }>();
  const [corrections, keep] = useState<ReadonlyMap<string, string>>(new Map());
  return {
    chosen,
    choose,
    editing,
    edit,
    corrections,
    correct: (path, text) => {
      keep(new Map(corrections).set(path, text));
      edit(undefined);
    },
    forget: () => {
      choose(undefined);
      edit(undefined);
      keep(new Map());
    },
  };
};

const useQuote = (operation: 'extract' | 'to_markdown', pages: number | undefined) => {
  const tenant_id = useTenantId();
  return useRead(
    'getQuote',
    { query: { operation, billing_type: 'full_service', pages: pages ?? 1, tenant_id } },
    { enabled: pages !== undefined },
  ).data;
};

/** The conversion of a document, which its markdown and a proposed schema share. */
const useConverting = (asked: Asked): Conversion => {
  const { reading, step, stop } = useReading(MARKDOWN);
  const credits = useQuote('to_markdown', asked.pages)?.credits;
  const { data, error, isPending } = reading;
  const convert = (): Promise<MarkdownResult | undefined> =>
    reading.mutateAsync(asked).catch(() => undefined); // the notes beside say it
  return { data, error, isPending, step, stop, credits, convert };
};

interface WorkbenchProps {
  readonly file: File;
  readonly schemaText: string;
  readonly onSchema: (text: string) => void;
  readonly onOther: () => void;
}

/** A document beside what is read from it. */
export function Workbench({ file, schemaText, onSchema, onOther }: WorkbenchProps) {
  const tenant_id = useTenantId();
  const isPaged = file.type === 'application/pdf' || /\.pdf$/i.test(file.name);
  const [pages, count] = useState<number | undefined>(isPaged ? undefined : 1);
  const [isBroken, mark] = useState(false);
  const [ran, keepRan] = useState(schemaText);
  const { reading, step, stop } = useReading(VALUES);
  const choosing = useChoosing();
  const quote = useQuote('extract', pages);
  const answer = reading.data;
  const rows = useMemo(
    () =>
      answer === undefined
        ? []
        : valueRows(answer.result, readSchema(ran).schema, {
            citations: answer.meta.citations,
            errors: answer.validation_errors,
          }),
    [answer, ran],
  );
  const run = (): void => {
    choosing.forget();
    keepRan(schemaText);
    reading.mutate({ file, schema: schemaText, pages, tenant_id });
  };
  const converting = useConverting({ file, pages, tenant_id });
  const proposing = useProposing(converting, onSchema);
  const { editing, edit } = choosing;
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Card
        title={file.name}
        actions={
          <Button size="small" onClick={onOther}>
            {playground.drop.other}
          </Button>
        }
        className="lg:sticky lg:top-16 lg:self-start"
      >
        {isBroken && <p role="alert">{playground.notOpened}</p>}
        <DocumentView
          file={file}
          rows={rows}
          conversion={converting}
          marks={marksOf(rows)}
          chosen={choosing.chosen}
          onChoose={choosing.choose}
          onPages={count}
          onFault={() => mark(true)}
          onDrawn={
            editing === undefined
              ? undefined
              : (words) => {
                  if (words !== '') edit({ ...editing, text: words });
                }
          }
        />
      </Card>
      <div className="flex min-w-0 flex-col gap-4">
        <SchemaPanel text={schemaText} onChange={onSchema} proposing={proposing} />
        <RunBar
          quote={quote}
          step={step}
          isRunning={reading.isPending}
          canRun={readSchema(schemaText).schema !== undefined}
          answer={answer}
          onRun={run}
          onStop={stop}
        />
        <ProblemNote error={reading.error} onRetry={run} />
        <Results
          file={file}
          schema={schemaText}
          answer={answer}
          rows={rows}
          choosing={choosing}
          conversion={converting}
        />
      </div>
    </div>
  );
}
