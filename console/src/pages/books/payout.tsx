import type { PayoutOtherRows, PayoutTotals } from '@quire/client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useFormContext, useWatch } from 'react-hook-form';
import { z } from 'zod';
import { books } from '../../texts/books.ts';
import { Button } from '../../ui/button.tsx';
import { Badge, Card, Stat } from '../../ui/card.tsx';
import { columnsFor } from '../../ui/columns.tsx';
import { FileDrop } from '../../ui/fileDrop.tsx';
import { Form, LinesField, SelectField, TextField } from '../../ui/form.tsx';
import { Select } from '../../ui/select.tsx';
import { ProblemNote } from '../../ui/states.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Credits } from '../../ui/values.tsx';
import {
  comparedFile,
  findingsFile,
  type Compared,
  type PayoutAsked,
  type PayoutLine,
} from './payoutLines.ts';

const texts = books.payout;

type Finding = keyof typeof texts.findings;
const FINDINGS = Object.keys(texts.findings) as readonly Finding[];

/** Missed, twice or other amounts are money; the others are facts that the books do not have yet. */
const TONES: Readonly<Partial<Record<Finding, 'warn' | 'neutral'>>> = {
  fee_not_booked: 'warn',
  other_fee: 'warn',
  other_payout: 'warn',
  payout_not_booked: 'neutral',
};

function FindingBadge({ finding }: { finding: Finding }) {
  return <Badge tone={TONES[finding] ?? 'bad'}>{texts.findings[finding]}</Badge>;
}

const OWN = 'own';
const FOUND = 'found';

const schema = z
  .object({
    mapping: z.string(),
    own: z.string().trim(),
    from: z.string(),
    to: z.string(),
    payout_id: z.string().trim(),
  })
  .refine(({ mapping, own }) => mapping !== OWN || own !== '', { path: ['own'], error: texts.needsOwn });
type Values = z.infer<typeof schema>;

const MAPPINGS = Object.entries(texts.mappings).map(([value, name]) => ({ value, name }));
const START: Values = { mapping: FOUND, own: texts.ownLike, from: '', to: '', payout_id: '' };

const askedOf = (file: File, { mapping, own, ...others }: Values): PayoutAsked => {
  const given = Object.entries(others).filter(([, value]) => value !== '');
  const named = mapping === FOUND ? {} : { mapping: mapping === OWN ? own : mapping };
  return { file, ...named, ...Object.fromEntries(given) };
};

function OwnMapping() {
  const { control } = useFormContext<Values>();
  const { mapping } = useWatch({ control });
  return mapping === OWN && <LinesField name="own" label={texts.own} say={texts.ownSay} rows={14} />;
}

interface SettingsProps {
  readonly file: File;
  readonly isBusy: boolean;
  readonly onCompare: (asked: PayoutAsked) => void;
  readonly onOther: () => void;
}

/** How the chosen file is read, and which payments it should have. */
function Settings({ file, isBusy, onCompare, onOther }: SettingsProps) {
  return (
    <Card>
      <div className="mb-4 flex min-w-0 flex-wrap items-center justify-between gap-2">
        <p className="min-w-0 font-medium break-words">
          <bdi>{file.name}</bdi>
        </p>
        <Button look="quiet" disabled={isBusy} onClick={onOther}>
          {texts.other}
        </Button>
      </div>
      <Form<Values> schema={schema} initial={START} onSubmit={(values) => onCompare(askedOf(file, values))}>
        <div className="grid items-start gap-4 sm:grid-cols-2 xl:grid-cols-4">
          <SelectField name="mapping" label={texts.mapping} choices={MAPPINGS} />
          <TextField name="payout_id" label={texts.payoutId} say={texts.payoutSay} />
          <TextField name="from" label={texts.from} type="date" say={texts.fromSay} />
          <TextField name="to" label={texts.to} type="date" say={texts.toSay} />
        </div>
        <OwnMapping />
        <div className="flex justify-end">
          <Button look="primary" type="submit" isBusy={isBusy}>
            {texts.compare}
          </Button>
        </div>
      </Form>
    </Card>
  );
}

const sum = columnsFor<PayoutTotals, keyof typeof texts.sumColumns>(texts.sumColumns);

const SUM_COLUMNS: readonly Column<PayoutTotals>[] = [
  sum.text('currency', ({ currency }) => currency, { share: 0.7 }),
  sum.count('rows', ({ rows }) => rows, 0.7),
  sum.count('payments', ({ payments }) => payments, 0.8),
  sum.minor('file_amount', (one) => [one.file_amount_minor, one.currency]),
  sum.minor('booked_amount', (one) => [one.booked_amount_minor, one.currency]),
  sum.minor('amount', (one) => [one.file_amount_minor - one.booked_amount_minor, one.currency]),
  sum.minor('file_fee', (one) => [one.file_fee_minor, one.currency]),
  sum.minor('booked_fee', (one) => [one.booked_fee_minor, one.currency]),
  sum.minor('fee', (one) => [one.file_fee_minor - one.booked_fee_minor, one.currency]),
];

const rest = columnsFor<PayoutOtherRows, keyof typeof texts.restColumns>(texts.restColumns);

const REST_COLUMNS: readonly Column<PayoutOtherRows>[] = [
  rest.text('type', ({ type }) => (type === '' ? texts.noType : type), { share: 1.6 }),
  rest.text('currency', ({ currency }) => currency, { share: 0.7 }),
  rest.count('rows', ({ rows }) => rows, 0.7),
  rest.minor('amount', ({ amount_minor, currency }) => [amount_minor, currency]),
  rest.minor('fee', ({ fee_minor, currency }) => [fee_minor, currency]),
];

interface Counted {
  readonly finding: Finding;
  readonly count: number;
}

const counted = columnsFor<Counted, keyof typeof texts.countColumns>(texts.countColumns);

const COUNT_COLUMNS: readonly Column<Counted>[] = [
  counted.text('finding', ({ finding }) => texts.findings[finding], {
    share: 1.4,
    show: ({ finding }) => <FindingBadge finding={finding} />,
  }),
  counted.count('count', ({ count }) => count, 0.6),
  counted.text('todo', ({ finding }) => texts.todo[finding], { share: 5 }),
];

const of = columnsFor<PayoutLine, keyof typeof texts.columns>(texts.columns);
type Side = PayoutLine['file'];

const money = (
  id: keyof typeof texts.columns,
  side: (line: PayoutLine) => Side,
  of_: 'amount_minor' | 'fee_minor',
) => of.minor(id, (line) => [side(line)?.[of_] ?? null, side(line)?.currency ?? '']);

const COLUMNS: readonly Column<PayoutLine>[] = [
  of.text('finding', ({ finding }) => texts.findings[finding], {
    share: 1.5,
    isWhole: true,
    show: ({ finding }) => <FindingBadge finding={finding} />,
  }),
  of.text('row', ({ row }) => row, { isNumber: true, share: 0.6 }),
  of.text('kind', ({ kind }) => kind && texts.kinds[kind], { share: 0.8 }),
  money('file_amount', ({ file }) => file, 'amount_minor'),
  money('booked_amount', ({ booked }) => booked, 'amount_minor'),
  money('file_fee', ({ file }) => file, 'fee_minor'),
  money('booked_fee', ({ booked }) => booked, 'fee_minor'),
  of.tenant('tenant_id', ({ tenant_id }) => tenant_id),
  of.text('transaction', ({ provider_txn_id }) => provider_txn_id, { share: 1.6 }),
  of.text('row_id', ({ row_id }) => row_id, { share: 1.6 }),
  of.text('file_payout', ({ file }) => file?.payout_id, { share: 1.2 }),
  of.text('booked_payout', ({ booked }) => booked?.payout_id, { share: 1.2 }),
];

interface DifferencesProps {
  readonly compared: Compared;
  readonly only: Finding | undefined;
  readonly choose: (finding: Finding | undefined) => void;
}

const ALL = 'all';

/** The differences, all or those of one kind. */
function Differences({ compared: { asked, answer, lines }, only, choose }: DifferencesProps) {
  const there = FINDINGS.filter((finding) => answer.counts[finding] > 0);
  const choices = there.map((value) => ({ value, name: texts.findings[value] }));
  return (
    <DataTable
      key={only}
      label={texts.list}
      columns={COLUMNS}
      items={only === undefined ? lines : lines.filter(({ finding }) => finding === only)}
      idOf={({ at }) => String(at)}
      csv={only === undefined ? () => findingsFile(asked) : undefined}
      height={560}
      actions={
        <span className="w-60">
          <Select
            label={texts.show}
            choices={[{ value: ALL, name: texts.all }, ...choices]}
            value={only ?? ALL}
            onChange={(value) => choose(there.find((finding) => finding === value))}
          />
        </span>
      }
    />
  );
}

function Figures({ compared: { answer, lines } }: { compared: Compared }) {
  const { rows, matched, mapping, provider, from, to, payout_id } = answer;
  const days = texts.days(from?.slice(0, 10), to?.slice(0, 10));
  return (
    <div className="grid grid-cols-2 gap-3 xl:grid-cols-4">
      <Stat name={texts.stats.rows} value={<Credits value={rows} />} say={texts.read(mapping, provider)} />
      <Stat
        name={texts.stats.matched}
        value={<Credits value={matched} />}
        say={payout_id === null ? days : texts.ofPayout(payout_id)}
      />
      <Stat name={texts.stats.findings} value={<Credits value={lines.length} />} />
      <Stat
        name={texts.stats.result}
        value={
          <span className={answer.is_matching ? 'text-good' : 'text-bad'}>
            {answer.is_matching ? texts.matches : texts.differs}
          </span>
        }
      />
    </div>
  );
}

/** What a comparison found: figures, sums of both sides, and the differences. */
function Result({ compared }: { compared: Compared }) {
  const [only, choose] = useState<Finding>();
  const { counts, totals, not_compared } = compared.answer;
  const found = FINDINGS.map((finding) => ({ finding, count: counts[finding] })).filter(
    ({ count }) => count > 0,
  );
  return (
    <section aria-label={texts.result} className="flex min-w-0 flex-col gap-4">
      <Figures compared={compared} />
      <Card title={texts.sums}>
        <DataTable
          label={texts.sums}
          columns={SUM_COLUMNS}
          items={totals}
          idOf={({ currency }) => currency}
          isSearched
        />
      </Card>
      {not_compared.length > 0 && (
        <Card title={texts.rest}>
          <DataTable
            label={texts.rest}
            columns={REST_COLUMNS}
            items={not_compared}
            idOf={({ type, currency }) => `${type} ${currency}`}
            height={240}
            isSearched
          />
        </Card>
      )}
      {found.length > 0 && (
        <>
          <Card title={texts.counts}>
            <p className="mb-2 text-soft">{texts.countsSay}</p>
            <DataTable
              label={texts.counts}
              columns={COUNT_COLUMNS}
              items={found}
              idOf={({ finding }) => finding}
              onOpen={({ finding }) => choose(finding)}
              isSearched
            />
          </Card>
          <Differences compared={compared} only={only} choose={choose} />
        </>
      )}
    </section>
  );
}

/** Compares a payment provider's file with the payments in the books. Nothing is changed by it. */
export function Payout() {
  const [file, choose] = useState<File>();
  const comparison = useMutation({ mutationFn: comparedFile });
  const take = (chosen: File | undefined): void => {
    comparison.reset();
    choose(chosen);
  };
  if (file === undefined)
    return (
      <FileDrop
        title={texts.drop}
        say={texts.dropSay}
        choose={texts.choose}
        accept=".csv,text/csv"
        onFile={take}
      />
    );
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Settings
        key={`${file.name} ${String(file.lastModified)}`}
        file={file}
        isBusy={comparison.isPending}
        onCompare={(asked) => comparison.mutate(asked)}
        onOther={() => take(undefined)}
      />
      <ProblemNote error={comparison.error} />
      {comparison.data !== undefined && <Result key={comparison.submittedAt} compared={comparison.data} />}
    </div>
  );
}
