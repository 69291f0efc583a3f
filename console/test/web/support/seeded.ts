import { readFile } from 'node:fs/promises';
import type { World } from './world.ts';

/** What a page shows where there is something to show. */
export interface Seeded {
  readonly tenantId: string;
  /** Of the tenant. */
  readonly key: string;
}

const LONG = 'Invoice number: A-1\n'.padEnd(3_000 * 60, 'Lorem ipsum dolor sit amet.\n');

/** A customer who bought credits, read documents and saved a config; and one who only bought. */
export const seed = async ({ admin, tenant }: World): Promise<Seeded> => {
  const tenant_id = 'larkspur';
  const { key, quire } = await tenant(tenant_id, 1);
  const sale = { tenant_id, provider_txn_id: 'paid', credits: 100_000, provider_fee_minor: 333 };
  await admin.api.addCredits({ body: { ...sale, gross_amount_minor: 11_900, vat_amount_minor: 1_900 } });
  await tenant('brindlemere', 1_000);
  const schema = JSON.parse(await readFile('test/fixtures/invoice.schema.json', 'utf8')) as object;
  const pdf = new File([new Uint8Array(await readFile('test/fixtures/invoice.pdf'))], 'invoice.pdf');
  await quire.extract({ file: pdf, schema });
  const number = { type: 'object', properties: { invoice_number: { type: 'string' } } };
  await quire.extract({ file: new File([LONG], 'long.txt'), schema: number });
  const body = { tenant_id, name: 'Invoices', schema };
  const { config_id } = await admin.api.publishConfig({ body });
  await admin.api.publishConfig({ body: { ...body, config_id, schema: { ...schema, title: 'Invoice' } } });
  return { tenantId: tenant_id, key };
};

/** Every page of the console, with who looks at it. */
export const everyPage = ({ tenantId, key }: Seeded, adminKey: string) =>
  [
    ['overview', '/overview', key],
    ['overview-operator', '/overview', adminKey],
    ['playground', '/playground', key],
    ['reviews', '/reviews', key],
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
