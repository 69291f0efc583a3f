import { statements } from '../texts/statements.ts';
import { majorText } from './decimal.ts';
import { Go } from './go.tsx';
import type { Column } from './table.tsx';
import { Credits, Money, Time } from './values.tsx';

/** Makes the columns of a table, each of its kind; a column is named by its ID among the words of the table. */
export const columnsFor = <Item, Id extends string>(names: Readonly<Record<Id, string>>) => {
  const column = (id: Id, value: Column<Item>['value'], more: Partial<Column<Item>> = {}): Column<Item> => ({
    id,
    name: names[id],
    value,
    ...more,
  });
  return {
    text: column,
    /** Whole numbers, grouped. */
    count: (id: Id, value: (item: Item) => number, share = 1): Column<Item> =>
      column(id, value, { isNumber: true, share, show: (item) => <Credits value={value(item)} /> }),
    /** Minor units of the currency of a row; null: not known. */
    minor: (id: Id, value: (item: Item) => readonly [minor: number | null, currency: string]): Column<Item> =>
      column(
        id,
        (item) => {
          const [minor, currency] = value(item);
          return minor === null ? undefined : majorText(minor, currency);
        },
        {
          isNumber: true,
          share: 1.3,
          show: (item) => {
            const [minor, currency] = value(item);
            return minor === null ? '–' : <Money amount={majorText(minor, currency)} currency={currency} />;
          },
        },
      ),
    /** US dollars as the service's decimal text. */
    usd: (id: Id, value: (item: Item) => string): Column<Item> =>
      column(id, value, {
        isNumber: true,
        share: 1.4,
        show: (item) => <Money amount={value(item)} currency="USD" isMarked />,
      }),
    time: (id: Id, value: (item: Item) => string | null): Column<Item> =>
      column(id, value, { share: 1.5, isWhole: true, show: (item) => <Time at={value(item)} /> }),
    /** The ID of a tenant, which leads to its page; null: there is none. */
    tenant: (id: Id, value: (item: Item) => string | null): Column<Item> =>
      column(id, value, {
        share: 1.6,
        show: (item) => {
          const tenant = value(item);
          return tenant === null ? '–' : <Go to={`/tenants/${encodeURIComponent(tenant)}`}>{tenant}</Go>;
        },
      }),
  };
};

const { titles } = statements.receipt;
const TITLES = { sale: titles.receipt, refund: titles.credit_note, reversal: titles.debit_note } as const;

const isDocumented = (kind: string): kind is keyof typeof TITLES => kind in TITLES;

/** The name of a payment's document; null: it has none of its own, as a later fact of a sale, or a dispute. */
export const documentOf = (kind: string): string | null => (isDocumented(kind) ? TITLES[kind] : null);

interface DocumentLinkProps {
  readonly kind: string;
  readonly tenantId: string;
  readonly grantId: string;
}

/** Leads to the receipt of a sale, or the note of a refund or a reversal. */
export function DocumentLink({ kind, tenantId, grantId }: DocumentLinkProps) {
  const name = documentOf(kind);
  const to = `/statements/${encodeURIComponent(tenantId)}/receipts/${encodeURIComponent(grantId)}`;
  return name === null ? '–' : <Go to={to}>{name}</Go>;
}
