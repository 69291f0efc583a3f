import { z } from 'zod';
import { DETAILS, type BillingDetails, detailsAt } from '../../../domain/billingDetails.ts';
import { decimalOf, minorUnitDigits } from '../../../domain/kernel/amounts.ts';
import type { Paper, Printer } from '../../../domain/ports/services.ts';
import type { BillingDetailsCommands } from '../../commands/apiKeys.ts';
import type { LogToRead } from '../../queries/log.ts';
import type { Queries } from '../../queries/queries.ts';
import { type AnyRequest, type RawBody, routesOver } from '../../server/routes.ts';
import { withTexts } from '../../writer/vault.ts';
import { checkKnown, instantOut, plainText, tenantParams, whoOut } from '../schemas/basics.ts';

/** What these routes need, and all papers. */
export interface BillingDetailsDeps {
  readonly queries: Pick<Queries, 'balanceOfTenant'>;
  readonly billingDetails: BillingDetailsCommands;
  readonly log: Pick<LogToRead, 'vault'>;
  /** Makes PDF files; lines that say who sells. */
  readonly papers: Printer & { readonly seller: readonly string[] };
}

const { get, put } = routesOver<BillingDetailsDeps>();

/** Control characters have no place on paper, but line breaks in an address. */
const linesOf = (text: string): readonly string[] => text.split('\n');
const isLine = (text: string): boolean => /^\P{Cc}+$/u.test(text);
const LINES_MAX = 8;

const addressIn = plainText(1, 500).refine(
  (text) => linesOf(text).length <= LINES_MAX && linesOf(text).every(isLine),
  { error: `Expected one to ${String(LINES_MAX)} lines, none of them empty.` },
);
const lineIn = (most: number) => plainText(1, most).refine(isLine, { error: 'Expected one line.' });

const detailsRequest = z
  .strictObject({
    legal_name: lineIn(200),
    address: addressIn.nullish(),
    vat_id: lineIn(40).nullish(),
    billing_email: z.email().max(254).nullish(),
  })
  .meta({
    id: 'BillingDetailsRequest',
    description: 'All details of the tenant: members that are null or left out are printed no more.',
  });

const detailsOut = {
  legal_name: z.string().nullable(),
  address: z.string().nullable(),
  vat_id: z.string().nullable(),
  billing_email: z.string().nullable(),
};

const detailsResponse = z
  .strictObject({
    tenant_id: z.string(),
    ...detailsOut,
    updated_at: instantOut.nullable(),
    updated_by: whoOut,
  })
  .meta({ id: 'BillingDetails' });

const NO_DETAILS = {
  legal_name: null,
  address: null,
  vat_id: null,
  billing_email: null,
  updated_at: null,
  updated_by: null,
};

export const getBillingDetails = get(
  '/v1/admin/tenants/{tenant_id}/billing-details',
  {
    summary: 'Who a tenant is on its statements and receipts',
    description: 'All members are null where none were set, and after the erasure of the tenant.',
    access: 'admin',
    tenant: 'path',
    params: tenantParams,
    reply: { status: 200, schema: detailsResponse },
    problems: ['tenant_not_found'],
    reads: 'tenant',
  },
  async ({ params: { tenant_id } }, { billingDetails, queries }) => {
    const { details } = await billingDetails.stateOf(tenant_id);
    await checkKnown({ queries }, tenant_id, { isEmpty: details === null });
    return { tenant_id, ...(details ?? NO_DETAILS) };
  },
);

export const setBillingDetails = put(
  '/v1/admin/tenants/{tenant_id}/billing-details',
  {
    summary: 'Replace the billing details of a tenant',
    description:
      'They are printed on what is made out from now on; a statement or receipt that has a name keeps it. The texts ' +
      'lie beside the log and go with the tenant’s erasure.',
    access: 'admin',
    tenant: 'path',
    params: tenantParams,
    body: detailsRequest,
    reply: { status: 200, schema: detailsResponse },
    problems: ['tenant_not_found', 'busy'],
    reads: 'tenant',
  },
  async ({ params: { tenant_id }, body, meta, doneOr }, { billingDetails, queries }) => {
    await checkKnown({ queries }, tenant_id, { isEmpty: true });
    const { legal_name, address = null, vat_id = null, billing_email = null } = body;
    const set = await billingDetails.set(tenant_id, { legal_name, address, vat_id, billing_email }, meta);
    return { tenant_id, ...(doneOr(set, {}).state.details ?? NO_DETAILS) };
  },
);

/** Who a document is made out to. */
export const customerOut = z
  .strictObject({
    status: z.enum(['given', 'not_given', 'erased']).meta({
      description: '`erased`: the tenant’s texts were erased, and the figures stay.',
    }),
    ...detailsOut,
  })
  .meta({ id: 'BilledCustomer' });

/** Lines of who sells. */
export const sellerOut = z
  .array(z.string())
  .meta({ description: 'Who sells, line by line: of the configuration (`SELLER`).' });

export type Customer = z.output<typeof customerOut>;

/** After every position of a log. */
const NOW = 2n ** 63n - 1n;

/** Who a tenant is on a document of a position; null: on one that is made out now. */
export const customerAt = async (
  { billingDetails, log }: Pick<BillingDetailsDeps, 'billingDetails' | 'log'>,
  tenantId: string,
  position: bigint | null,
): Promise<Customer> => {
  const details = detailsAt(await billingDetails.settings(tenantId), position ?? NOW);
  if (details === undefined) {
    const { updated_at: _, updated_by: __, ...none } = NO_DETAILS;
    return { status: 'not_given', ...none };
  }
  const shown: { readonly [Name in keyof BillingDetails]: string | null } = await withTexts(log, details);
  const isErased = DETAILS.every((name) => shown[name] === null);
  return { status: isErased ? 'erased' : 'given', ...shown };
};

/** Lines of an addressee. */
export const addresseeOf = (tenantId: string, customer: Customer): readonly string[] => {
  const { legal_name, address, vat_id, billing_email } = customer;
  const name = customer.status === 'erased' ? '(erased)' : (legal_name ?? tenantId);
  const lines = [
    name,
    ...(address === null ? [] : linesOf(address)),
    vat_id === null ? '' : `VAT ID ${vat_id}`,
  ];
  return [...lines, billing_email ?? ''].filter((line) => line !== '');
};

const GROUPS = new Intl.NumberFormat('en-US');

/** 12345 as `12,345`. */
export const grouped = (whole: number): string => GROUPS.format(whole);

/** Minor units of a currency as they are printed: `1,190.00 EUR`. */
export const moneyText = (minor: number | null, currency: string | null): string => {
  if (minor === null || currency === null) return '';
  const sign = minor < 0 ? '-' : '';
  const [whole = '', part] = decimalOf(BigInt(Math.abs(minor)), minorUnitDigits(currency) ?? 2).split('.');
  const amount = `${sign}${GROUPS.format(BigInt(whole))}`;
  return `${part === undefined ? amount : `${amount}.${part}`} ${currency}`;
};

/** A time as it is printed. */
export const timeText = (at: string | null): string =>
  at === null ? '' : `${at.slice(0, 10)} ${at.slice(11, 16)}`;

export const PDF_TYPE = 'application/pdf';

/** Whether the caller would rather have a document as a PDF file than as JSON. */
export const prefersPdf = ({ prefers }: Pick<AnyRequest, 'prefers'>): boolean =>
  prefers(['application/json', 'text/csv', PDF_TYPE]) === PDF_TYPE;

/** A document as a PDF file, with the name that a browser saves it under. */
export const pdfAnswer = async (
  { papers }: Pick<BillingDetailsDeps, 'papers'>,
  { answer }: Pick<AnyRequest, 'answer'>,
  paper: Paper,
): Promise<RawBody> => {
  const body = await papers.print(paper);
  const name = paper.number.replaceAll(/[^\w.-]+/g, '_');
  answer.header('Content-Disposition', `inline; filename="${name}.pdf"`);
  return { contentType: PDF_TYPE, body };
};
