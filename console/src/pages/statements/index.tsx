import { isProblem, type StatementMonth } from '@quire/client';
import { csvOf, useRead } from '../../api/connection.ts';
import { useTenantId } from '../../api/session.ts';
import { statements as texts } from '../../texts/statements.ts';
import { Badge, PageHeader } from '../../ui/card.tsx';
import { columnsFor } from '../../ui/columns.tsx';
import { ForTenant } from '../../ui/forTenant.tsx';
import { Go, useGo, useRest } from '../../ui/go.tsx';
import { Empty, ProblemNote } from '../../ui/states.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Receipt } from './receipt.tsx';
import { Statement } from './statement.tsx';

const pathOf = (tenantId: string, month: string): string =>
  `/statements/${encodeURIComponent(tenantId)}/${month}`;

const of = columnsFor<StatementMonth, keyof typeof texts.columns>(texts.columns);

const columns = (tenantId: string): readonly Column<StatementMonth>[] => [
  of.text('month', ({ month }) => month, {
    show: ({ month }) => <Go to={pathOf(tenantId, month)}>{month}</Go>,
  }),
  of.text('status', ({ status }) => texts.status[status], {
    show: ({ status }) => (
      <Badge tone={status === 'closed' ? 'good' : 'neutral'}>{texts.status[status]}</Badge>
    ),
  }),
  of.text('number', ({ number }) => number, { share: 2 }),
];

/** The months that a tenant has a statement of, newest first. */
function Months({ tenantId }: { tenantId: string }) {
  const go = useGo();
  const input = { path: { tenant_id: tenantId } };
  const read = useRead('listStatements', input);
  const none = <Empty title={texts.none.title} say={texts.none.say} />;
  if (isProblem(read.error) && read.error.problem.code === 'tenant_not_found') return none;
  if (read.error !== null) return <ProblemNote error={read.error} onRetry={() => void read.refetch()} />;
  return (
    <DataTable
      label={texts.of(tenantId)}
      columns={columns(tenantId)}
      items={read.data?.items}
      idOf={({ month }) => month}
      onOpen={({ month }) => go(pathOf(tenantId, month))}
      csv={() => csvOf('listStatements', input)}
      empty={none}
    />
  );
}

function OwnMonths() {
  return <Months tenantId={useTenantId()} />;
}

/** Statements: the months of a tenant, one of them, or the receipt or note of a payment. */
export default function StatementsPage() {
  const [tenantId, part, grantId] =
    useRest()
      ?.split('/')
      .filter((each) => each !== '') ?? [];
  if (tenantId !== undefined && part === 'receipts' && grantId !== undefined)
    return <Receipt key={grantId} tenantId={tenantId} grantId={grantId} />;
  if (tenantId !== undefined && part !== undefined)
    return <Statement key={`${tenantId} ${part}`} tenantId={tenantId} month={part} />;
  return (
    <>
      <PageHeader title={tenantId === undefined ? texts.title : texts.of(tenantId)} say={texts.say} />
      {tenantId === undefined ? (
        <ForTenant>
          <OwnMonths />
        </ForTenant>
      ) : (
        <Months tenantId={tenantId} />
      )}
    </>
  );
}
