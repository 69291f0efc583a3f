import type { ReceiptResponse } from '@quire/client';
import type { ReactNode } from 'react';
import { fileOf, useRead } from '../../api/connection.ts';
import { statements } from '../../texts/statements.ts';
import { Card, PageHeader } from '../../ui/card.tsx';
import { majorText } from '../../ui/decimal.ts';
import { Downloads, type NamedFile } from '../../ui/download.tsx';
import { Go } from '../../ui/go.tsx';
import { PrintButton } from '../../ui/printing.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { Credits, Money, Time } from '../../ui/values.tsx';
import { Above, Parties, Proof } from './paper.tsx';

const texts = statements.receipt;

type Fact = readonly [name: string, value: ReactNode];

/** Names with values, those that are known. */
const factsOf = (receipt: ReceiptResponse): readonly Fact[] => {
  const { currency, fx_rate_to_usd: rate, price_list_version: version } = receipt;
  const facts: readonly Fact[] = [
    [texts.facts.account, receipt.tenant_id],
    [texts.facts.date, <Time key="date" at={receipt.booked_at} />],
    [texts.facts.corrects, receipt.corrects],
    [texts.facts.undoes, receipt.undoes],
    [texts.facts.invoice, receipt.invoice_ref],
    [texts.facts.payment, `${receipt.provider} ${receipt.provider_txn_id}`],
    [texts.facts.list, version === null ? null : texts.version(version)],
    [
      texts.facts.rate,
      rate === null || currency === 'USD' ? null : texts.rate(currency, rate, receipt.fx_rate_date),
    ],
  ];
  return facts.filter(([, value]) => value !== null);
};

interface AmountLine {
  readonly name: string;
  /** Left out: the line is of money only. */
  readonly credits?: number;
  /** Left out: the line is of credits only; null: not known. */
  readonly minor?: number | null;
  readonly isTotal?: true;
}

const linesOf = (receipt: ReceiptResponse): readonly AmountLine[] => {
  const { credits, bonus_credits: bonus, discount_minor: discount } = receipt;
  return [
    { name: texts.lines[receipt.document], credits: credits - bonus },
    ...(bonus > 0 ? [{ name: texts.bonus, credits: bonus }] : []),
    ...(discount > 0 ? [{ name: texts.discount(receipt.discount_code), minor: -discount }] : []),
    { name: texts.net, minor: receipt.net_amount_minor },
    { name: texts.vat(receipt.tax_rate, receipt.tax_country), minor: receipt.vat_amount_minor },
    { name: texts.total, credits, minor: receipt.gross_amount_minor, isTotal: true },
    ...receipt.corrections.map(({ tax_rate, tax_country, booked_at, vat_amount_minor }) => ({
      name: texts.corrected(texts.vat(tax_rate, tax_country), booked_at.slice(0, 10)),
      minor: vat_amount_minor,
    })),
  ];
};

function Amount({ minor, currency }: { minor: number | null | undefined; currency: string }) {
  if (minor === undefined) return null;
  return minor === null ? '–' : <Money amount={majorText(minor, currency)} currency={currency} />;
}

function Amounts({ receipt }: { receipt: ReceiptResponse }) {
  const { columns } = texts;
  return (
    <table className="w-full">
      <thead className="text-left text-[13px] text-soft">
        <tr>
          <th className="py-1 font-medium">{columns.name}</th>
          <th className="py-1 pl-4 text-right font-medium">{columns.credits}</th>
          <th className="py-1 pl-4 text-right font-medium">{columns.amount}</th>
        </tr>
      </thead>
      <tbody>
        {linesOf(receipt).map(({ name, credits, minor, isTotal }) => (
          <tr key={name} className={`border-t border-line ${isTotal ? 'font-semibold' : ''}`}>
            <td className="py-1.5">{name}</td>
            <td className="py-1.5 pl-4 text-right">{credits !== undefined && <Credits value={credits} />}</td>
            <td className="py-1.5 pl-4 text-right">
              <Amount minor={minor} currency={receipt.currency} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A receipt or note as the service prints and lists it; its number is its name once it is known. */
const filesOf = (grant_id: string, name: string): readonly NamedFile[] => {
  const input = { path: { grant_id } };
  return [
    { name: statements.pdf, file: `${name}.pdf`, load: () => fileOf('getReceipt', input, 'application/pdf') },
    { name: statements.csv, file: `${name}.csv`, load: () => fileOf('getReceipt', input, 'text/csv') },
  ];
};

function Facts({ receipt }: { receipt: ReceiptResponse }) {
  const { tenant_id, booked_at } = receipt;
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
      {factsOf(receipt).map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-soft">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
      <dt className="text-soft">{texts.month}</dt>
      <dd>
        <Go to={`/statements/${encodeURIComponent(tenant_id)}/${booked_at.slice(0, 7)}`}>
          {booked_at.slice(0, 7)}
        </Go>
      </dd>
    </dl>
  );
}

/** The receipt of a sale, or the note of a refund or a reversal. */
export function Receipt({ tenantId, grantId }: { tenantId: string; grantId: string }) {
  const read = useRead('getReceipt', { path: { grant_id: grantId } });
  const { data } = read;
  return (
    <>
      <Above tenantId={tenantId} />
      <PageHeader
        title={data === undefined ? texts.titles.receipt : texts.titles[data.document]}
        say={data?.number ?? grantId}
      >
        <Downloads files={filesOf(grantId, data?.number ?? grantId)} />
        <PrintButton />
      </PageHeader>
      <ProblemNote error={read.error} onRetry={() => void read.refetch()} />
      {data === undefined && read.error === null && <Skeleton lines={6} className="h-8" />}
      {data !== undefined && (
        <div className="flex max-w-4xl flex-col gap-4">
          <Parties tenantId={data.tenant_id} customer={data.customer} seller={data.seller} />
          <Card>
            <Facts receipt={data} />
          </Card>
          <Card title={texts.amounts}>
            <Amounts receipt={data} />
          </Card>
          <Proof position={data.position} digest={data.digest} />
        </div>
      )}
    </>
  );
}
