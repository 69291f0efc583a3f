import type { ExtractionResult, QuoteResponse, MarkdownResult } from '@quire/client';
import { useMemo, useState } from 'react';
import { playground } from '../../texts/playground.ts';
import { Button } from '../../ui/button.tsx';
import { Going, type Conversion } from './conversion.tsx';
import { useReading, MARKDOWN, type Step, type Asked, type AskedValues, type Reading } from './reading.ts';
import { NextSteps } from './nextSteps.tsx';
import { useRead } from '../../api/connection.ts';
import { useTenantId } from '../../api/session.ts';
import { Card } from '../../ui/card.tsx';
import { ProblemNote } from '../../ui/states.tsx';
import { DocumentView } from './documentView.tsx';
import type { Marked } from './overlay.tsx';
import { Results, type Choosing } from './results.tsx';
import { SchemaPanel, useProposing } from './schemaPanel.tsx';
import { readSchema, valueRows, type ValueRow } from './values.ts';

const { run: runTexts } = playground;

interface RunBarProps {
  readonly quote: QuoteResponse | undefined;
  readonly step: Step | undefined;
  readonly isRunning: boolean;
  readonly canRun: boolean;
  readonly answer: ExtractionResult | undefined;
  readonly onRun: () => void;
  readonly onStop: () => void;
}

function Quote({ quote }: { quote: QuoteResponse | undefined }) {
  if (quote === undefined) return <span className="text-soft">{runTexts.unknownPages}</span>;
  return (
    <span className="text-soft">
      {runTexts.quote(quote.credits, quote.pages, quote.free_pages_applied)}
      {!quote.sufficient && <span className="text-bad"> {runTexts.short}</span>}
    </span>
  );
}

/** Runs, with what it costs before and did cost after. */
function RunBar({ quote, step, isRunning, canRun, answer, onRun, onStop }: RunBarProps) {
  return (
    <div className="flex flex-wrap items-center gap-3">
      <Button look="primary" isBusy={isRunning} disabled={!canRun} onClick={onRun}>
        {runTexts.run}
      </Button>
      {isRunning ? <Going step={step} onStop={onStop} /> : <Quote quote={quote} />}
      {answer !== undefined && !isRunning && (
        <span className="text-soft" data-cost={answer.cost.credits_used}>
          {runTexts.cost(answer.cost.credits_used, answer.cost.pages)}
          {answer.cost.balance_remaining !== null && `, ${runTexts.left(answer.cost.balance_remaining)}`}
        </span>
      )}
    </div>
  );
}

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
  readonly values: Reading<AskedValues, ExtractionResult>;
  readonly onSchema: (text: string) => void;
  readonly onOther: () => void;
}

/** A document beside what is read from it. */
export function Workbench({ file, schemaText, values, onSchema, onOther }: WorkbenchProps) {
  const tenant_id = useTenantId();
  const isPaged = file.type === 'application/pdf' || /\.pdf$/i.test(file.name);
  const [pages, count] = useState<number | undefined>(isPaged ? undefined : 1);
  const [isBroken, mark] = useState(false);
  const [ran, keepRan] = useState(schemaText);
  const { reading, step, stop } = values;
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
  const run = (schema = schemaText): void => {
    choosing.forget();
    keepRan(schema);
    reading.mutate({ file, schema, pages, tenant_id });
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
          onRun={() => run()}
          onStop={stop}
        />
        <ProblemNote error={reading.error} onRetry={() => run()} />
        {answer !== undefined && (
          <NextSteps
            file={file}
            ran={ran}
            onSchema={(schema) => {
              onSchema(schema);
              run(schema);
            }}
          />
        )}
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
