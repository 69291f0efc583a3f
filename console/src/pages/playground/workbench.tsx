import type { ExtractionResult, QuoteResponse, MarkdownResult } from '@quire/client';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { playground } from '../../texts/playground.ts';
import { Button } from '../../ui/button.tsx';
import { Going, type Conversion } from '../../document/conversion.tsx';
import {
  counted,
  isSentEarly,
  useReading,
  MARKDOWN,
  type Counted,
  type Told,
  type Step,
  type Asked,
  type AskedValues,
  type Reading,
} from '../../document/reading.ts';
import type { KeptRun } from '../../document/keptRun.ts';
import { isUnderWay, markdownOf, schemaOf, useKeptDraft, valuesOf } from './kept.ts';
import { askedBy, optionsOf, pagesChosen, RunOptionsBar, type Mode } from '../../document/runOptions.tsx';
import { NextSteps } from './nextSteps.tsx';
import { useRead } from '../../api/connection.ts';
import { useTenantId } from '../../api/session.ts';
import { Card } from '../../ui/card.tsx';
import { AskToStay } from '../../ui/dialog.tsx';
import { ProblemNote, ProgressBar } from '../../ui/states.tsx';
import { DocumentView } from '../../document/documentView.tsx';
import type { Marked } from '../../document/overlay.tsx';
import { otherWays } from './results.tsx';
import { SchemaPanel, useProposing } from './schemaPanel.tsx';
import { readSchema, valueRows, type ValueRow, withoutOldPlaces } from '../../document/values.ts';
import type { Choosing } from './valueTree.tsx';

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
    <div className="z-10 flex flex-wrap items-center gap-3 bg-page py-2 lg:sticky lg:top-12 lg:-my-2">
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
const useChoosing = (
  corrected: readonly (readonly [string, string])[] = [],
): Choosing & { readonly forget: () => void } => {
  const [chosen, choose] = useState<string>();
  const [editing, edit] = useState<{ path: string; text: string }>();
  const [corrections, keep] = useState<ReadonlyMap<string, string>>(() => new Map(corrected));
  const [saved, save] = useState<ReadonlyMap<string, string>>();
  return {
    chosen,
    choose,
    editing,
    edit,
    corrections,
    isKept: saved === corrections,
    markKept: () => save(corrections),
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

interface Priced {
  readonly pages: number | undefined;
  readonly extraction_mode?: Mode;
}

const useQuote = (operation: 'extract' | 'to_markdown', { pages, ...how }: Priced) => {
  const tenant_id = useTenantId();
  return useRead(
    'getQuote',
    { query: { operation, billing_type: 'full_service', pages: pages ?? 1, tenant_id, ...how } },
    { enabled: pages !== undefined },
  ).data;
};

/** The conversion of a document, which its markdown and a proposed schema share. */
const useConverting = (asked: Asked, { told, before }: Converting): Conversion => {
  const { reading, step, stop } = useReading(MARKDOWN, told);
  const credits = useQuote('to_markdown', { pages: asked.pages })?.credits;
  const { data = before, error, isPending } = reading;
  const convert = (): Promise<MarkdownResult | undefined> =>
    reading.mutateAsync(asked).catch(() => undefined); // the notes beside say it
  return { data, error, isPending, step, stop, credits, convert };
};

interface Converting {
  readonly told: Told | undefined;
  /** What an earlier conversion gave. */
  readonly before: MarkdownResult | undefined;
}

/** What the service says of a document before it is billed; undefined: it did not say it yet. */
const useCounted = (file: File, isThere: boolean): Counted | undefined => {
  const tenant_id = useTenantId();
  const asked = { file, tenant_id };
  return useQuery({
    queryKey: ['counted', tenant_id, file.name, file.size, file.lastModified],
    queryFn: () => counted(asked),
    enabled: isThere && isSentEarly(file),
    staleTime: Infinity,
  }).data;
};

const isNamedPdf = ({ type, name }: File): boolean => type === 'application/pdf' || /\.pdf$/i.test(name);

/** Says what a document is where that is not what its name says, or where nothing can be read from it. */
function WhatItIs({ file, found }: { file: File; found: Counted | undefined }) {
  if (found === undefined) return null;
  const { status, mime_type } = found;
  if (status === 'unsupported')
    return (
      <p role="alert" className="text-bad">
        {playground.unreadable(found.pages)}
      </p>
    );
  const isOther = mime_type !== null && isNamedPdf(file) && mime_type !== 'application/pdf';
  return isOther ? (
    <p role="alert" className="text-warn">
      {playground.otherThanNamed(mime_type)}
    </p>
  ) : null;
}

/** Says that the browser shows nothing of a PDF that the service can read. */
function NotDrawn({ isBroken, found }: { isBroken: boolean; found: Counted | undefined }) {
  if (!isBroken || found?.mime_type !== 'application/pdf') return null;
  return <p role="alert">{playground.notOpened}</p>;
}

/** What is known of a document: its pages, as the service or else the browser counts them, and if it can be read. */
const useKnown = (file: File, kept: KeptRun | undefined) => {
  const isThere = kept?.isFileKept !== false;
  const found = useCounted(file, isThere);
  const [drawn, count] = useState<number | undefined>(isNamedPdf(file) ? undefined : 1);
  const canRead = isThere && found?.status !== 'unsupported';
  return { found, pages: found?.pages ?? drawn, count, canRead };
};

interface WorkbenchProps {
  readonly file: File;
  /** The run that is looked at again; undefined: the file was given here. */
  readonly kept: KeptRun | undefined;
  /** The run in the address. */
  readonly run: string | undefined;
  /** Those that were typed before a reload. */
  readonly corrections: readonly (readonly [string, string])[] | undefined;
  readonly schemaText: string;
  readonly values: Reading<AskedValues, ExtractionResult>;
  readonly told: Told;
  readonly onSchema: (text: string) => void;
  readonly onOther: () => void;
}

/** What is known of an earlier run before anything is read here. */
function BeforeNote({ kept }: { kept: KeptRun | undefined }) {
  if (kept === undefined) return null;
  const { run, isFileKept } = kept;
  return (
    <div className="flex flex-col gap-2">
      {isUnderWay(run) && <ProgressBar label={playground.run.reading} />}
      {!isUnderWay(run) && run.result === null && run.error === null && (
        <p role="status">{playground.kept.noResult}</p>
      )}
      {run.error !== null && (
        <p role="alert" className="text-bad">
          {run.error.detail}
        </p>
      )}
      {!isFileKept && <p className="text-soft">{playground.kept.noFile}</p>}
    </div>
  );
}

/** What was read here, or in the earlier run that is looked at. */
const answerOf = (
  { isPending, data }: WorkbenchProps['values']['reading'],
  kept: KeptRun | undefined,
): ExtractionResult | undefined => data ?? (isPending ? undefined : kept && valuesOf(kept.run));

/** Takes words of the page into the value that is being corrected; undefined: none is. */
const drawnInto = ({ editing, edit }: Choosing): ((words: string) => void) | undefined =>
  editing &&
  ((words) => {
    if (words !== '') edit({ ...editing, text: words });
  });

/** A document beside what is read from it. */
export function Workbench(props: WorkbenchProps) {
  const { file, kept, run: runId, schemaText, values, told, onSchema, onOther } = props;
  const tenant_id = useTenantId();
  const { found, pages, count, canRead } = useKnown(file, kept);
  const [options, choose] = useState(() => optionsOf(kept?.run.request));
  const [isBroken, mark] = useState(false);
  const [ran, keepRan] = useState(() => (kept && schemaOf(kept.run)) ?? schemaText);
  const { reading, step, stop } = values;
  const choosing = useChoosing(props.corrections);
  const priced = { pages: pagesChosen(options.pages, pages), extraction_mode: options.mode };
  const quote = useQuote('extract', priced);
  const answer = answerOf(reading, kept);
  useKeptDraft(tenant_id, { run: runId, schema: schemaText, corrections: choosing.corrections });
  const ranSchema = useMemo(() => readSchema(ran).schema, [ran]);
  const read = useMemo(
    () =>
      answer === undefined
        ? []
        : valueRows(answer.result, ranSchema, {
            citations: answer.meta.citations,
            errors: answer.validation_errors,
          }),
    [answer, ranSchema],
  );
  const { corrections } = choosing;
  const rows = useMemo(() => withoutOldPlaces(read, corrections), [read, corrections]);
  const run = (schema = schemaText): void => {
    choosing.forget();
    keepRan(schema);
    reading.mutate({ file, schema, pages: priced.pages, tenant_id, ...askedBy(options) });
  };
  const converting = useConverting(
    { file, pages, tenant_id },
    { told, before: kept && markdownOf(kept.run) },
  );
  const proposing = useProposing(converting);
  return (
    <div className="grid gap-4 lg:grid-cols-[minmax(0,5fr)_minmax(0,7fr)]">
      <AskToStay isUnsaved={choosing.corrections.size > 0 && !choosing.isKept} />
      <Card
        title={file.name}
        actions={
          <Button size="small" onClick={onOther}>
            {playground.drop.other}
          </Button>
        }
        className="lg:sticky lg:top-16 lg:self-start"
      >
        <WhatItIs file={file} found={found} />
        <NotDrawn isBroken={isBroken} found={found} />
        <DocumentView
          file={file}
          rows={rows}
          conversion={converting}
          marks={marksOf(rows)}
          chosen={choosing.chosen}
          onChoose={choosing.choose}
          onPages={count}
          onFault={() => mark(true)}
          onDrawn={drawnInto(choosing)}
        />
      </Card>
      <div className="flex min-w-0 flex-col gap-4">
        <BeforeNote kept={reading.isIdle ? kept : undefined} />
        <RunOptionsBar options={options} onChange={choose} onSchema={onSchema} />
        <RunBar
          quote={quote}
          step={step}
          isRunning={reading.isPending}
          canRun={canRead && readSchema(schemaText).schema !== undefined}
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
        <SchemaPanel
          text={schemaText}
          onChange={onSchema}
          proposing={proposing}
          read={answer && { file, answer, rows, ran: ranSchema, choosing }}
          otherWays={otherWays({
            file,
            pages,
            schema: schemaText,
            ran,
            options: { ...options, isPartialAllowed: true },
            answer,
            conversion: converting,
          })}
        />
      </div>
    </div>
  );
}
