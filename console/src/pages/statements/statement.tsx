import type { StatementResponse, StatementRow } from '@quire/client';
import { csvOf, fileOf, useRead } from '../../api/connection.ts';
import { statements } from '../../texts/statements.ts';
import { Badge, PageHeader, Stat } from '../../ui/card.tsx';
import { columnsFor } from '../../ui/columns.tsx';
import { Downloads, type NamedFile } from '../../ui/download.tsx';
import { Go } from '../../ui/go.tsx';
import { useKeyNames } from '../../ui/names.tsx';
import { PrintButton } from '../../ui/printing.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Credits } from '../../ui/values.tsx';
import { Above, Parties, Proof } from './paper.tsx';

const texts = statements.statement;

type KeyNames = ReadonlyMap<string, string>;

const detailOf = (
  { kind, document, project_id, api_key_id, count, id }: StatementRow,
  keys: KeyNames,
): string | null => {
  if (kind === 'opening_balance' || kind === 'closing_balance') return null;
  if (kind !== 'usage') return document ?? id ?? texts.more(count);
  const parts = [
    project_id === null ? texts.others : texts.project(project_id),
    api_key_id === null ? null : texts.key(keys.get(api_key_id) ?? api_key_id),
  ];
  return `${parts.filter((part) => part !== null).join(', ')}: ${texts.operations(count)}`;
};

/** What a row is about; a sale, a refund or a reversal leads to its document. */
function Detail({ row, keys }: { row: StatementRow; keys: KeyNames }) {
  const text = detailOf(row, keys);
  if (row.document === null || row.id === null) return <span title={text ?? undefined}>{text}</span>;
  const to = `/statements/${encodeURIComponent(row.tenant_id)}/receipts/${encodeURIComponent(row.id)}`;
  return <Go to={to}>{text}</Go>;
}

const of = columnsFor<StatementRow, keyof typeof texts.columns>(texts.columns);

const isBalance = ({ kind }: StatementRow): boolean =>
  kind === 'opening_balance' || kind === 'closing_balance';

const unlessBalance = (row: StatementRow, value: number) => (isBalance(row) ? '' : <Credits value={value} />);

const columnsOf = (keys: KeyNames): readonly Column<StatementRow>[] => [
  of.time('booked_at', ({ booked_at }) => booked_at),
  of.text('kind', ({ kind }) => texts.kinds[kind], {
    share: 1.35,
    show: (row) => <span className={isBalance(row) ? 'font-medium' : ''}>{texts.kinds[row.kind]}</span>,
  }),
  of.text('detail', (row) => detailOf(row, keys), {
    share: 3,
    show: (row) => <Detail row={row} keys={keys} />,
  }),
  of.text('pages', ({ pages }) => pages, {
    isNumber: true,
    share: 0.7,
    show: (row) => (row.pages === 0 ? '' : <Credits value={row.pages} />),
  }),
  of.minor('paid', ({ gross_amount_minor, currency }) => [gross_amount_minor, currency ?? '']),
  of.text('credits', ({ credits }) => credits, {
    isNumber: true,
    show: (row) => unlessBalance(row, row.credits),
  }),
  of.count('balance', ({ balance_credits }) => balance_credits),
];

function Figures({ data }: { data: StatementResponse }) {
  const figures = [
    [texts.stats.opening, data.opening_balance_credits],
    [texts.stats.purchased, data.purchased_credits],
    [texts.stats.refunded, data.refunded_credits],
    ...(data.transferred_credits === 0 ? [] : [[texts.stats.transferred, data.transferred_credits] as const]),
    [texts.stats.adjusted, data.adjusted_credits],
    [texts.stats.used, data.used_credits],
    [texts.stats.closing, data.closing_balance_credits],
  ] as const;
  return (
    <div className="grid grid-cols-2 gap-3 md:grid-cols-3 xl:grid-cols-6">
      {figures.map(([name, value]) => (
        <Stat key={name} name={name} value={<Credits value={value} />} say={texts.credits} />
      ))}
    </div>
  );
}

/** A statement as the service prints and lists it. */
const filesOf = (tenant_id: string, month: string): readonly NamedFile[] => {
  const input = { path: { tenant_id, month } };
  const name = `statement-${tenant_id}-${month}`;
  return [
    {
      name: statements.pdf,
      file: `${name}.pdf`,
      load: () => fileOf('getStatement', input, 'application/pdf'),
    },
    { name: statements.csv, file: `${name}.csv`, load: () => csvOf('getStatement', input) },
  ];
};

/** A tenant's month: what it began and ended with, and every movement between. */
export function Statement({ tenantId, month }: { tenantId: string; month: string }) {
  const read = useRead('getStatement', { path: { tenant_id: tenantId, month } });
  const keys = useKeyNames(tenantId);
  const { data } = read;
  return (
    <>
      <Above tenantId={tenantId} />
      <PageHeader title={texts.title(month)} say={data?.number ?? tenantId}>
        {data !== undefined && (
          <Badge tone={data.status === 'closed' ? 'good' : 'neutral'}>{statements.status[data.status]}</Badge>
        )}
        <Downloads files={filesOf(tenantId, month)} />
        <PrintButton />
      </PageHeader>
      <ProblemNote error={read.error} onRetry={() => void read.refetch()} />
      {data === undefined && read.error === null && <Skeleton lines={6} className="h-8" />}
      {data !== undefined && (
        <div className="flex flex-col gap-4">
          {data.status === 'open' && (
            <p role="status" className="rounded-lg bg-sunken p-3 text-soft">
              {statements.provisional}
            </p>
          )}
          <Figures data={data} />
          <Parties tenantId={tenantId} customer={data.customer} seller={data.seller} />
          <DataTable
            label={texts.list(tenantId, month)}
            columns={columnsOf(keys)}
            items={data.items}
            idOf={(row) => [row.kind, row.id, row.project_id, row.api_key_id, row.booked_at].join(' ')}
            csv={() => csvOf('getStatement', { path: { tenant_id: tenantId, month } })}
            height={560}
          />
          <Proof position={data.position} digest={data.digest} />
        </div>
      )}
    </>
  );
}
