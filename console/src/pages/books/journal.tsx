import type { JournalAccount, JournalLine } from '@quire/client';
import { fileOf, usePages } from '../../api/connection.ts';
import { books } from '../../texts/books.ts';
import { Card } from '../../ui/card.tsx';
import { columnsFor } from '../../ui/columns.tsx';
import { Downloads, type NamedFile } from '../../ui/download.tsx';
import { Go } from '../../ui/go.tsx';
import type { Period } from '../../ui/period.ts';
import { Empty, ProblemNote } from '../../ui/states.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';

const texts = books.journal;

interface Sided {
  readonly debit_usd: string;
  readonly credit_usd: string;
}

/** The two sides; the one that is 0 is left empty. */
const sides = <Item extends Sided>() => {
  const of = columnsFor<Item, keyof typeof texts.columns>(texts.columns);
  const side = (id: 'debit' | 'credit', value: (item: Item) => string): Column<Item> => {
    const column = of.usd(id, value);
    return { ...column, show: (item) => (Number(value(item)) === 0 ? '' : column.show?.(item)) };
  };
  return [side('debit', ({ debit_usd }) => debit_usd), side('credit', ({ credit_usd }) => credit_usd)];
};

const accounted = columnsFor<JournalAccount, keyof typeof texts.columns>(texts.columns);

const ACCOUNT_COLUMNS: readonly Column<JournalAccount>[] = [
  accounted.text('account', ({ account, account_name }) => `${account} ${account_name}`, {
    isWhole: true,
    share: 1.8,
  }),
  ...sides<JournalAccount>(),
];

/** The place of an entry in the log, which leads to its stream. */
function Place({ line: { stream, position } }: { line: JournalLine }) {
  return <Go to={`/audit?${new URLSearchParams({ stream }).toString()}`}>{position}</Go>;
}

const of = columnsFor<JournalLine, keyof typeof texts.columns>(texts.columns);

const COLUMNS: readonly Column<JournalLine>[] = [
  of.text('booked_on', ({ booked_on }) => booked_on, { share: 1 }),
  of.text('kind', ({ kind }) => texts.kinds[kind] ?? kind, { share: 1.1 }),
  of.tenant('tenant_id', ({ tenant_id }) => tenant_id),
  of.text('account', ({ account, account_name }) => `${account} ${account_name}`, {
    isWhole: true,
    share: 1.8,
  }),
  ...sides<JournalLine>(),
  of.text('position', ({ position }) => position, {
    isNumber: true,
    share: 0.8,
    show: (line) => <Place line={line} />,
  }),
  of.text('reference', ({ reference }) => reference, { share: 1.6 }),
];

const LAYOUTS = ['datev', 'xero', 'quickbooks'] as const;

/** The journal of a month as other programs take it. */
const filesOf = (month: string): readonly NamedFile[] =>
  LAYOUTS.map((layout) => ({
    name: texts.layouts[layout],
    file: `journal-${month}-${layout}.csv`,
    load: () => fileOf('getJournal', { query: { month, layout } }, 'text/csv'),
  }));

/** The journal of a month: what its accounts come to, its lines, and the files that other programs take. */
export function Journal({ period: { month } }: { period: Period }) {
  const list = usePages('getJournal', { query: { month } });
  const accounts = list.first?.accounts ?? undefined;
  if (list.error !== null) return <ProblemNote error={list.error} onRetry={list.again} />;
  if (list.items?.length === 0) return <Empty title={texts.none.title} say={texts.none.say} />;
  return (
    <div className="flex flex-col gap-4">
      <div className="grid items-start gap-4 xl:grid-cols-[3fr_2fr]">
        <Card title={texts.accounts}>
          <p className="mb-2 text-soft">{texts.say}</p>
          <DataTable
            label={`${texts.accounts} ${month}`}
            columns={ACCOUNT_COLUMNS}
            items={accounts}
            idOf={({ account }) => account}
            isSearched
          />
        </Card>
        <Card title={texts.files}>
          <p className="mb-3 text-soft">{texts.filesSay}</p>
          <Downloads files={filesOf(month)} />
        </Card>
      </div>
      <DataTable
        label={texts.list(month)}
        columns={COLUMNS}
        list={{ ...list, total: undefined }}
        idOf={({ position, tenant_id, kind, account, booked_on, debit_usd }) =>
          [position, tenant_id, kind, account, booked_on, debit_usd].join(' ')
        }
        actions={
          list.total !== undefined && (
            <span className="text-[13px] text-soft">{texts.entries(list.total.toLocaleString('en'))}</span>
          )
        }
        height={560}
      />
    </div>
  );
}
