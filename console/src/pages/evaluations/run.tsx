import type { Api } from '@quire/client';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, useChange, useRead } from '../../api/connection.ts';
import { evaluations as texts } from '../../texts/evaluations.ts';
import { Button } from '../../ui/button.tsx';
import { Badge, Card, Stat, type Tone } from '../../ui/card.tsx';
import { priceOf, shortText } from '../../ui/decimal.ts';
import { fieldName } from '../../ui/gate.tsx';
import { Go, useAddressValue } from '../../ui/go.tsx';
import { Measured } from '../../ui/names.tsx';
import { ProblemNote, Skeleton, Status } from '../../ui/states.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Credits } from '../../ui/values.tsx';
import { WrongDocument } from './wrong.tsx';

type Run = Awaited<ReturnType<Api['getEvaluationRun']>>;
type Field = Run['per_field'][number];

const { columns: names, runs: said } = texts;

type Figured = Pick<Run['per_document'][number], 'tp' | 'fp' | 'fn' | 'f1' | 'change'>;

const toneOf = (change: number): Tone => (change > 0 ? 'good' : 'bad');

/** By how much it moved; what did not move is no mark. */
function Changed({ by }: { by: number | null }) {
  if (by === null || by === 0) return <span className="text-soft">{texts.change(by)}</span>;
  return <Badge tone={toneOf(by)}>{texts.change(by)}</Badge>;
}

/** What was right, wrong and missing, and how that changed. */
const figureColumns = <Item extends Figured>(): readonly Column<Item>[] => [
  { id: 'right', name: names.right, value: ({ tp }) => tp, isNumber: true, share: 0.7 },
  { id: 'wrong', name: names.wrong, value: ({ fp }) => fp, isNumber: true, share: 0.7 },
  { id: 'missing', name: names.missing, value: ({ fn }) => fn, isNumber: true, share: 0.7 },
  {
    id: 'f1',
    name: names.f1,
    value: ({ f1 }) => f1 ?? '',
    show: ({ f1 }) => texts.score(f1),
    isNumber: true,
    share: 0.8,
  },
  {
    id: 'change',
    name: names.change,
    value: ({ change }) => change ?? '',
    show: ({ change }) => <Changed by={change} />,
    isNumber: true,
    share: 0.8,
  },
];

const FIELD_COLUMNS: readonly Column<Field>[] = [
  { id: 'field', name: names.field, value: ({ path }) => path, share: 2 },
  ...figureColumns<Field>(),
];

const DOCUMENT_COLUMNS: readonly Column<Run['per_document'][number]>[] = [
  {
    id: 'document',
    name: names.document,
    value: ({ file_name, document_id }) => file_name ?? document_id,
    share: 2.4,
  },
  ...figureColumns<Run['per_document'][number]>(),
  { id: 'leftOut', name: names.leftOut, value: ({ left_out }) => left_out ?? '' },
];

/** What credits cost in USD by the price list. */
const useUsd = (credits: number | null): string | undefined => {
  const { data } = useRead('getCreditPrices');
  const entry = data?.entries.find(({ currency }) => currency === 'USD');
  const price = entry && credits !== null ? priceOf(entry, credits) : undefined;
  return price && `${shortText(price, 'USD')} USD`;
};

const SECOND_MS = 1_000;
const MINUTE_S = 60;

/** How long it took, in the unit that says it. */
const lasted = ({ accepted_at, finished_at }: Run): string => {
  if (finished_at === null) return '–';
  const seconds = (Date.parse(finished_at) - Date.parse(accepted_at)) / SECOND_MS;
  return seconds < MINUTE_S ? `${seconds.toFixed(1)} s` : `${(seconds / MINUTE_S).toFixed(1)} min`;
};

function Figures({ of }: { of: Run }) {
  const usd = useUsd(of.credits_used);
  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-5">
      <Stat
        name={names.f1}
        value={texts.score(of.f1)}
        say={of.previous && <Changed by={of.previous.change} />}
      />
      <Stat name={names.precision} value={texts.score(of.precision)} />
      <Stat name={names.recall} value={texts.score(of.recall)} />
      <Stat
        name={names.credits}
        value={<Credits value={of.credits_used ?? 0} />}
        say={usd === undefined ? said.noPrice : said.credits(usd)}
      />
      <Stat name={names.took} value={lasted(of)} say={said.took(of.documents)} />
    </div>
  );
}

/** F1 if every value of one field had been read right: its wrong ones go, and its missing ones are there. */
const f1With = ({ per_field }: Run, { fp, fn }: Field): number => {
  const sum = (of: (one: Field) => number): number => per_field.reduce((all, one) => all + of(one), 0);
  const right = sum((one) => one.tp) + fn;
  const off = sum((one) => one.fp) - fp + sum((one) => one.fn) - fn;
  return right + off === 0 ? 0 : (2 * right) / (2 * right + off);
};

const HELPS_MAX = 3;

/** The fields whose faults cost most. */
const helpsOf = (run: Run) =>
  run.per_field
    .filter(({ fp, fn }) => fp + fn > 0)
    .map((field) => ({ field, f1: f1With(run, field) }))
    .sort((a, b) => b.f1 - a.f1)
    .slice(0, HELPS_MAX);

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="min-w-0">
      <h3 className="mb-1 font-medium">{title}</h3>
      {children}
    </section>
  );
}

function Helps({ of }: { of: Run }) {
  const helps = helpsOf(of);
  return (
    <Part title={said.helps}>
      {helps.length === 0 ? (
        <p className="text-soft">{said.allRight}</p>
      ) : (
        <ol className="list-decimal pl-5">
          {helps.map(({ field: { path, tp, fp, fn }, f1 }) => (
            <li key={path}>
              {said.help(fieldName(path), Math.max(fp, fn), tp + Math.max(fp, fn))}
              <span className="text-soft">; {said.helpTo(f1)}</span>
            </li>
          ))}
        </ol>
      )}
    </Part>
  );
}

function Calibration({ of }: { of: Run }) {
  return (
    <Part title={said.calibration}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4">
        {of.calibration.map(({ at_least, values, right }) => (
          <div key={at_least} className="contents">
            <dt className="text-soft">{said.sure(at_least)}</dt>
            <dd>
              {values === 0
                ? said.noneSure
                : `${said.ofThem(right, values)} (${texts.score(right / values)})`}
            </dd>
          </div>
        ))}
      </dl>
    </Part>
  );
}

/** What the fields did since the run before. */
function Compared({ of: { previous, per_field } }: { of: Run }) {
  if (previous === null) return <p className="text-[13px] text-soft">{said.first}</p>;
  const moved = (sign: 1 | -1): number => per_field.filter(({ change }) => (change ?? 0) * sign > 0).length;
  return (
    <p className="text-[13px] break-words text-soft">
      {said.moved(moved(1), moved(-1))} <Go to={`/evaluations?run=${previous.run_id}`}>{said.before}</Go>
    </p>
  );
}

const TIER = 'light';
/** A training takes at least so many. */
const EXAMPLES_MIN = 2;

/** Starts a training with the run's examples and schema; the button says what it costs. */
function Learn({ of: { tenant_id, set_id, schema, documents, artifact_id } }: { of: Run }) {
  const query = {
    tenant_id,
    optimizer_tier: TIER,
    total_examples: Math.max(documents, EXAMPLES_MIN),
  } as const;
  const quote = useRead('getTrainingQuote', { query });
  const learn = useChange('createTrainingJob');
  if (schema === null || documents < EXAMPLES_MIN || artifact_id !== null) return null;
  const body = { tenant_id, set_id, schema, optimizer_tier: TIER } as const;
  return (
    <div className="flex flex-col items-start gap-1 border-t border-line pt-3">
      {learn.data === undefined ? (
        <Button
          isBusy={learn.isPending || quote.isPending}
          disabled={quote.data === undefined}
          onClick={() => learn.mutate({ body })}
        >
          {said.learn(documents, quote.data?.credits.toLocaleString('en') ?? '…')}
        </Button>
      ) : (
        <p role="status">
          {said.learned} <Go to={`/pipelines?job=${learn.data.job_id}`}>{said.toJob}</Go>
        </p>
      )}
      <p className="text-[13px] text-soft">{said.learnSay}</p>
      <ProblemNote error={learn.error ?? quote.error} />
    </div>
  );
}

const isOpen = ({ status }: Pick<Run, 'status'>): boolean => status !== 'succeeded' && status !== 'cancelled';

const AGAIN_MS = 2_000;

function Cancel({ run_id }: Pick<Run, 'run_id'>) {
  const cancel = useChange('cancelEvaluationRun');
  return (
    <>
      <Button isBusy={cancel.isPending} onClick={() => cancel.mutate({ path: { run_id } })}>
        {said.cancel}
      </Button>
      <ProblemNote error={cancel.error} />
    </>
  );
}

/** What fails most stands where it is seen. */
const worstFirst = (fields: readonly Field[]): readonly Field[] =>
  [...fields].sort((a, b) => b.fp + b.fn - a.fp - a.fn);

/** What was measured: in all, what would help, by field and by document. */
function Scored({ of }: { of: Run }) {
  const [document, open] = useAddressValue('document');
  const opened = of.per_document.find(({ document_id }) => document_id === document);
  return (
    <div className="flex flex-col gap-4">
      <Figures of={of} />
      <Compared of={of} />
      <div className="grid gap-4 lg:grid-cols-2">
        <Helps of={of} />
        <Calibration of={of} />
      </div>
      <Learn of={of} />
      <Part title={said.fields}>
        <DataTable
          label={said.fields}
          columns={FIELD_COLUMNS}
          items={worstFirst(of.per_field)}
          idOf={({ path }) => path}
          height={240}
        />
      </Part>
      <Part title={said.perDocument}>
        <DataTable
          label={said.perDocument}
          columns={DOCUMENT_COLUMNS}
          items={of.per_document}
          idOf={({ document_id }) => document_id}
          onOpen={({ document_id }) => open(document_id)}
          height={280}
        />
      </Part>
      {opened !== undefined && (
        <WrongDocument
          key={opened.document_id}
          run_id={of.run_id}
          document_id={opened.document_id}
          onClose={() => open(undefined)}
        />
      )}
    </div>
  );
}

/** A run as far as it is. */
export function OpenedRun({ run_id }: Pick<Run, 'run_id'>) {
  const { data, error, refetch } = useQuery({
    queryKey: ['getEvaluationRun', run_id],
    queryFn: () => api.getEvaluationRun({ path: { run_id } }),
    refetchInterval: ({ state }) => (state.data === undefined || isOpen(state.data) ? AGAIN_MS : false),
  });
  if (error !== null) return <ProblemNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton lines={6} />;
  return (
    <Card title={<Measured {...data} />} actions={isOpen(data) && <Cancel run_id={run_id} />}>
      {data.status === 'succeeded' ? <Scored of={data} /> : <Status status={data.status} />}
    </Card>
  );
}
