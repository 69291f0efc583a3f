import { readFile } from 'node:fs/promises';
import type { Quire } from '../../../../sdk/src/index.ts';
import type { World } from './world.ts';

/** What a page shows where there is something to show. */
export interface Seeded {
  readonly tenantId: string;
  /** Of the tenant. */
  readonly key: string;
  /** Of results that a person has to look at: single values in doubt, and rows of a list too. */
  readonly reviews: { readonly values: string; readonly rows: string };
}

/** An invoice with three values in doubt, all of them missing: it says none of them. */
export const DOUBTFUL = {
  type: 'object',
  properties: {
    invoice_number: { type: 'string' },
    invoice_date: { type: 'string', format: 'date' },
    grand_total: { type: 'number' },
    seller_name: { type: 'string' },
    approved_by: { type: 'string' },
    cost_centre: { type: 'string' },
    project_code: { type: 'string' },
  },
  required: ['approved_by', 'cost_centre', 'project_code'],
} as const;

export const invoiceSchema = async (): Promise<object> =>
  JSON.parse(await readFile('test/fixtures/invoice.schema.json', 'utf8')) as object;

/** A file of the fixtures. */
export const fixture = async (name: string): Promise<File> =>
  new File([new Uint8Array(await readFile(`test/fixtures/${name}`))], name);

/** Has a document read so that a person has to look at it. Gives the review's ID. */
export const reviewed = async (
  quire: Quire,
  { file, schema, review }: { readonly file: File; readonly schema: object; readonly review: object },
): Promise<string> => {
  const sent = await quire.extract({ file, schema, review: JSON.stringify(review) });
  const { review_id } = sent as unknown as { readonly review_id: string };
  return review_id;
};

const LONG = 'Invoice number: A-1\n'.padEnd(3_000 * 60, 'Lorem ipsum dolor sit amet.\n');

/** A customer who bought credits, read documents and saved a config; and one who only bought. */
export const seed = async ({ admin, tenant }: World): Promise<Seeded> => {
  const tenant_id = 'larkspur';
  const { key, quire } = await tenant(tenant_id, 1);
  const sale = { tenant_id, provider_txn_id: 'paid', credits: 100_000, provider_fee_minor: 333 };
  await admin.api.addCredits({ body: { ...sale, gross_amount_minor: 11_900, vat_amount_minor: 1_900 } });
  await tenant('brindlemere', 1_000);
  const schema = await invoiceSchema();
  const pdf = await fixture('invoice.pdf');
  await quire.extract({ file: pdf, schema });
  const number = { type: 'object', properties: { invoice_number: { type: 'string' } } };
  await quire.extract({ file: new File([LONG], 'long.txt'), schema: number });
  const body = { tenant_id, name: 'Invoices', schema };
  const { config_id } = await admin.api.publishConfig({ body });
  await admin.api.publishConfig({ body: { ...body, config_id, schema: { ...schema, title: 'Invoice' } } });
  const reviews = {
    values: await reviewed(quire, { file: pdf, schema: DOUBTFUL, review: { missing_required: true } }),
    rows: await reviewed(quire, {
      ...{ file: await fixture('invoice-2-pages.pdf'), schema },
      review: { below: 0.9 },
    }),
  };
  return { tenantId: tenant_id, key, reviews };
};

/** Every page of the console, with who looks at it. */
export const everyPage = ({ tenantId, key, reviews }: Seeded, adminKey: string) =>
  [
    ['overview', '/overview', key],
    ['overview-operator', '/overview', adminKey],
    ['playground', '/playground', key],
    ['reviews', '/reviews', key],
    ['review', `/reviews/${reviews.values}`, key],
    ['review-rows', `/reviews/${reviews.rows}`, key],
    ['usage', '/usage', key],
    ['keys', '/keys', key],
    ['configs', '/configs', key],
    ['pipelines', '/pipelines', key],
    ['evaluations', '/evaluations', key],
    ['tenants', '/tenants', adminKey],
    ['tenant', `/tenants/${tenantId}`, adminKey],
    ['finance', '/finance', adminKey],
    ['audit', '/audit', adminKey],
    ['operation', '/operation', adminKey],
    ['sign-in', '/sign-in', undefined],
  ] as const;
