import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { Quire } from '../../../../sdk/src/index.ts';
import { until } from '../../../../engine/test/support/until.ts';
import { ADMIN_KEY } from '../../../../test/support/serviceProcess.ts';
import type { PageOptions } from './browser.ts';
import type { World } from './world.ts';

/** What a page shows where there is something to show. */
export interface Seeded {
  readonly tenantId: string;
  /** Of the tenant. */
  readonly key: string;
  /** A sale of the tenant, which has a receipt. */
  readonly saleId: string;
  /** Of the tenant; its deliveries wait for a receiver that is nowhere. */
  readonly webhookId: string;
  /** Of the tenant: a list of vendors, in its second version. */
  readonly tableId: string;
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

export const invoiceSchema = async () =>
  JSON.parse(await readFile('test/fixtures/invoice.schema.json', 'utf8')) as {
    readonly type: 'object';
    readonly properties: Readonly<Record<string, unknown>>;
  };

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

/** What is measured: an invoice, uploaded several times. */
export interface Measured {
  readonly set_id: string;
  /** One that is read as expected, one with two wrong values, and one with a missing one. */
  readonly documents: readonly string[];
  readonly config_id: string;
  /** Of a schema that asks for two names as numbers, then of the config. */
  readonly runs: readonly string[];
}

/** A set of three invoices and two runs of it; the second one measures a config and reads more. */
export const measure = async (
  { admin }: Pick<World, 'admin'>,
  quire: Quire,
  tenant_id: string,
): Promise<Measured> => {
  const bytes = new Uint8Array(await readFile('test/fixtures/invoice.pdf'));
  const schema = await invoiceSchema();
  const { result } = await quire.extract({ file: new File([bytes], 'invoice.pdf'), schema });
  const more = [
    {},
    { grand_total: 1_000, buyer_name: 'Somebody Else' },
    { delivery_address: '1 Nowhere Lane' },
  ];
  const examples: { document_id: string; expected: Record<string, unknown> }[] = [];
  for (const [at, changed] of more.entries()) {
    const { document_id } = await quire.uploads.send(new File([bytes], `invoice-${String(at + 1)}.pdf`));
    examples.push({ document_id, expected: { ...result, ...changed } });
  }
  const set = { tenant_id, name: 'Invoices of January', examples };
  const { set_id } = await quire.api.createEvaluationSet({ body: set });
  const { config_id } = await admin.api.publishConfig({ body: { tenant_id, name: 'Invoices', schema } });
  const run = async (asked: object): Promise<string> => {
    const { run_id } = await quire.api.createEvaluationRun({ body: { tenant_id, set_id, ...asked } });
    await until(
      async () => (await quire.api.getEvaluationRun({ path: { run_id } })).status === 'succeeded',
      200,
    );
    return run_id;
  };
  const number = { type: 'number' };
  const properties = { ...schema.properties, seller_name: number, buyer_name: number };
  const runs = [await run({ schema: { type: 'object', properties } }), await run({ config_id })];
  return { set_id, documents: examples.map(({ document_id }) => document_id), config_id, runs };
};

/** A key with a budget that it has used up, one for all work that is nearly used up, and one of a tag. */
const setBudgets = async ({ admin, url }: Pick<World, 'admin' | 'url'>, tenant_id: string): Promise<void> => {
  const { key, key_id } = await admin.api.createApiKey({ body: { tenant_id, name: 'night batch' } });
  const body = { tenant_id, period: 'month', time_zone: 'Europe/Berlin' } as const;
  const team = { tag: { name: 'team', value: 'claims' } };
  await admin.api.createBudget({ body: { ...body, name: 'All work', scope: {}, limit_credits: 6_000 } });
  await admin.api.createBudget({
    body: { ...body, name: 'Night batch', scope: { key_id }, limit_credits: 6_500, alert_at: [0.5, 0.75, 1] },
  });
  await admin.api.createBudget({
    body: {
      ...body,
      name: 'Team claims',
      scope: team,
      period: 'week',
      on_reached: 'notify',
      limit_credits: 500,
    },
  });
  const night = new Quire({ url, key, tenant: tenant_id });
  await night.api.chargeExamples({ body: { tenant_id, idempotency_key: 'one', tags: { team: 'night' } } });
  await night.api.chargeExamples({ body: { tenant_id, idempotency_key: 'two' } }).catch(() => undefined);
};

const VENDORS = 'number,name,city,country,iban\n';
const vendor = (at: number): string =>
  `${String(70_000 + at)},Larkspur Supplies No ${String(at)},Exampletown,DE,DE${String(10 + at)}500105175407324931\n`;

/** Two versions of a table. */
const publishVendors = async ({ admin }: Pick<World, 'admin'>, tenant_id: string): Promise<string> => {
  const rows = Array.from({ length: 320 }, (_, at) => vendor(at));
  const fileOf = (count: number) => new File([VENDORS, ...rows.slice(0, count)], 'vendors.csv');
  const { table_id } = await admin.api.publishTable({ body: { tenant_id, file: fileOf(3) } });
  await admin.api.publishTable({ body: { tenant_id, table_id, file: fileOf(320) } });
  return table_id;
};

/** A customer who bought credits, read documents and saved a config; and one who only bought. */
export const seed = async (world: World): Promise<Seeded> => {
  const { admin, tenant } = world;
  const tenant_id = 'larkspur';
  const { key, quire } = await tenant(tenant_id, 1);
  const sale = { tenant_id, provider_txn_id: 'paid', credits: 100_000, provider_fee_minor: 333 };
  const paid = { gross_amount_minor: 11_900, vat_amount_minor: 1_900, tax_rate: '19', tax_country: 'DE' };
  const { grant_id: saleId } = await admin.api.addCredits({ body: { ...sale, ...paid } });
  const details = {
    legal_name: 'Larkspur Ltd',
    address: '1 Harbour Road\nExampletown',
    vat_id: 'DE123456789',
  };
  await admin.api.setBillingDetails({ path: { tenant_id }, body: details });
  const part = { credits: 10_000, gross_amount_minor: 1_190, reason: 'part of the order' };
  await admin.api.refundCredits({
    body: { tenant_id, original_provider_txn_id: 'paid', provider_txn_id: 'paid-back', ...part },
  });
  await tenant('brindlemere', 1_000);
  const schema = await invoiceSchema();
  const pdf = await fixture('invoice.pdf');
  await quire.extract({ file: pdf, schema, tags: '{"team":"claims","stage":"live"}' });
  const number = { type: 'object', properties: { invoice_number: { type: 'string' } } };
  await quire.extract({ file: new File([LONG], 'long.txt'), schema: number, tags: '{"team":"legal"}' });
  const body = { tenant_id, name: 'Invoices', schema };
  const { config_id } = await admin.api.publishConfig({ body });
  await admin.api.publishConfig({ body: { ...body, config_id, schema: { ...schema, title: 'Invoice' } } });
  const reviews = {
    values: await reviewed(quire, { file: pdf, schema: DOUBTFUL, review: { missing_required: true } }),
    rows: await reviewed(quire, {
      file: await fixture('invoice-2-pages.pdf'),
      schema,
      review: { below: 0.9 },
    }),
  };
  const tableId = await publishVendors(world, tenant_id);
  await measure(world, quire, tenant_id);
  await setBudgets(world, tenant_id);
  const figures = { threshold_credits: 100_000, credits: 50_000, monthly_credits_max: 200_000 };
  const named = { currency: 'USD', payer: 'cus_3QK9', payment_method: 'pm_3QK9' };
  await admin.api.setTopUp({ path: { tenant_id }, body: { active: true, ...figures, ...named } });
  const webhook = { tenant_id, url: 'https://hooks.example.com/quire', events: ['*' as const] };
  const { webhook_id: webhookId } = await quire.api.createWebhook({ body: webhook });
  await quire.api.testWebhook({ path: { webhook_id: webhookId } });
  await admin.api.sealEventLog({ body: {} });
  return { tenantId: tenant_id, key, saleId, webhookId, tableId, reviews };
};

const thisMonth = (): string => new Date().toISOString().slice(0, 7);

const keyOf = {
  tenant: ({ key }: Seeded) => key,
  operator: () => ADMIN_KEY,
  nobody: () => undefined,
} as const;

/** A page of the console, and who looks at it. */
interface PageSeen {
  readonly name: string;
  readonly by: keyof typeof keyOf;
  readonly path: string | ((seeded: Seeded) => string);
}

const seen = (by: PageSeen['by'], pages: Readonly<Record<string, PageSeen['path']>>): readonly PageSeen[] =>
  Object.entries(pages).map(([name, path]) => ({ name, by, path }));

/** Every page of the console; one more is one entry here. */
export const PAGES: readonly PageSeen[] = [
  ...seen('tenant', {
    overview: '/overview',
    playground: '/playground',
    runs: '/runs',
    'many-files': '/runs?tab=files',
    reviews: '/reviews',
    review: ({ reviews }) => `/reviews/${reviews.values}`,
    'review-rows': ({ reviews }) => `/reviews/${reviews.rows}`,
    usage: '/usage',
    'usage-groups': '/usage?tab=groups&by=day,tag:team,key',
    'usage-top-up': '/usage?tab=top-up',
    budgets: '/budgets',
    statements: '/statements',
    statement: ({ tenantId }) => `/statements/${tenantId}/${thisMonth()}`,
    receipt: ({ tenantId, saleId }) => `/statements/${tenantId}/receipts/${saleId}`,
    keys: '/keys',
    webhooks: '/webhooks',
    webhook: ({ webhookId }) => `/webhooks/${webhookId}`,
    work: '/work',
    'work-batches': '/work?tab=batches',
    configs: '/configs',
    tables: '/tables',
    table: ({ tableId }) => `/tables/${tableId}`,
    pipelines: '/pipelines',
    evaluations: '/evaluations',
  }),
  ...seen('operator', {
    'overview-operator': '/overview',
    tenants: '/tenants',
    tenant: ({ tenantId }) => `/tenants/${tenantId}`,
    'tenant-sales': ({ tenantId }) => `/tenants/${tenantId}?tab=grants`,
    'tenant-data': ({ tenantId }) => `/tenants/${tenantId}?tab=data`,
    'tenant-billing': ({ tenantId }) => `/tenants/${tenantId}?tab=billing`,
    books: '/books',
    'books-tax': '/books?tab=tax',
    'books-deferred': '/books?tab=deferred',
    'books-journal': '/books?tab=journal',
    'books-dormant': '/books?tab=dormant',
    'books-payout': '/books?tab=payout',
    'books-open': '/books?tab=open',
    finance: '/finance',
    'finance-costs': '/finance?tab=costs',
    'finance-prices': '/finance?tab=prices',
    'finance-rates': '/finance?tab=rates',
    'finance-billing': '/finance?tab=billing',
    'finance-reconciliation': '/finance?tab=reconciliation',
    closing: '/finance?tab=close',
    audit: '/audit',
    'audit-seals': '/audit?tab=seals',
    operation: '/operation',
  }),
  ...seen('nobody', { 'sign-in': '/sign-in' }),
];

/** Opens a page as the one who looks at it. */
export const openSeen = (
  { open }: Pick<World, 'open'>,
  { page: { by, path }, seeded, ...options }: PageOptions & { page: PageSeen; seeded: Seeded },
): Promise<Page> =>
  open(typeof path === 'string' ? path : path(seeded), { ...options, key: keyOf[by](seeded) });
