import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { until } from '../../../engine/test/support/until.ts';
import type { Quire } from '../../../sdk/src/index.ts';
import { writeEvents } from '../../../tools/bench/tradingLog.ts';
import { axeFindings } from './support/axe.ts';
import { faults } from './support/browser.ts';
import { startWorld, type World } from './support/world.ts';

const ROWS = 10_000;
const TENANT = 'many';
const WEBHOOK = 'wh_MANY';
const DIGEST = 'a'.repeat(64);
const BEGAN_MS = Date.now() - 86_400_000;

const serial = (at: number): string => String(at).padStart(6, '0');
const timeOf = (at: number): string => new Date(BEGAN_MS + at * 1_000).toISOString();

const scope = { tenant_id: TENANT, project_id: 'default', task_id: 'default' };
const asked = (at: number) => ({
  input_sha256: DIGEST,
  fingerprint: DIGEST,
  api_key_id: 'key_MANY',
  api_key_role: 'tenant' as const,
  correlation_id: `req-${serial(at)}`,
  accepted_at: timeOf(at),
  expires_at: timeOf(at + 86_400),
});

/** Work that was asked for and cancelled: a document, its operation, and a batch of one document. */
const workOf = (at: number) => {
  const [document_id, operation_id, batch_id] = ['doc', 'op', 'bat'].map((kind) => `${kind}_${serial(at)}`);
  const id = { document_id: document_id ?? '', operation_id: operation_id ?? '', batch_id: batch_id ?? '' };
  const registered = {
    ...scope,
    document_id: id.document_id,
    file_name: `letter-${serial(at)}.txt`,
    mime_type: 'text/plain',
    bytes: 20,
    pages: 1 + (at % 7),
    sha256: DIGEST,
    source: 'upload' as const,
    created_at: timeOf(at),
  };
  const accepted = {
    ...scope,
    ...asked(at),
    operation_id: id.operation_id,
    kind: 'extract' as const,
    work_id: `ext_${serial(at)}`,
    document_id: id.document_id,
    mode: 'standard' as const,
    billing_type: 'full_service' as const,
    pages: 1 + (at % 7),
    free: true,
    hold_id: `hold_${serial(at)}`,
  };
  const batch = {
    ...scope,
    ...asked(at),
    batch_id: id.batch_id,
    kind: 'extract' as const,
    document_ids: [id.document_id],
  };
  const over = { tenant_id: TENANT, cancelled_at: timeOf(at) };
  const none = { succeeded: 0, partial: 0, failed: 0, cancelled: 1, pages: 0, credits_charged: 0 };
  return [
    { stream: `document-${id.document_id}`, events: [{ type: 'DocumentRegistered', data: registered }] },
    {
      stream: `operation-${id.operation_id}`,
      events: [
        { type: 'OperationAccepted', data: accepted },
        { type: 'OperationCancelled', data: { operation_id: id.operation_id, ...over } },
      ],
    },
    {
      stream: `batch-${id.batch_id}`,
      events: [
        { type: 'BatchAccepted', data: batch },
        { type: 'BatchCancelled', data: { batch_id: id.batch_id, ...over } },
        {
          type: 'BatchEnded',
          data: { batch_id: id.batch_id, tenant_id: TENANT, ...none, ended_at: timeOf(at) },
        },
      ],
    },
  ] as const;
};

/** A webhook that is told of all that, and that sends nothing. */
const webhook = {
  stream: `webhook-${WEBHOOK}`,
  events: [
    {
      type: 'WebhookCreated',
      data: {
        webhook_id: WEBHOOK,
        tenant_id: TENANT,
        url: 'https://hooks.example.com/quire',
        events: ['operation.cancelled'],
        description: null,
        low_balance_credits: null,
        secret_id: 'sec_MANY',
        created_at: timeOf(-1),
      },
    },
  ],
} as const;
const silent = {
  stream: `webhook-${WEBHOOK}`,
  events: [
    {
      type: 'WebhookDisabled',
      data: { webhook_id: WEBHOOK, tenant_id: TENANT, reason: 'gone', disabled_at: timeOf(ROWS) },
    },
  ],
} as const;

function* history() {
  yield { ...webhook, at: timeOf(-1) };
  for (let at = 0; at < ROWS; at += 1) for (const one of workOf(at)) yield { ...one, at: timeOf(at) };
  yield { ...silent, at: timeOf(ROWS) };
}

/** As a browser in UTC shows it. */
const timeShown = (at: number): string =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' }).format(
    new Date(timeOf(at)),
  );

interface Table {
  readonly name: string;
  readonly path: string;
  readonly grid: string;
  /** The column to sort by, and what the row says that comes first then. */
  readonly sort: string;
  readonly first: RegExp;
  /** The field that filters, and a text that so many rows have. */
  readonly field: string;
  readonly text: (quire: Quire) => Promise<string> | string;
  readonly found: number;
}

const TABLES: readonly Table[] = [
  {
    name: 'runs',
    path: '/runs',
    grid: 'Runs',
    sort: 'Pages',
    first: /letter-\d{6}\.txt\s+Extraction\s+Cancelled\s+7\s/,
    field: 'Name, ID, config, key or tag',
    text: () => 'letter-004242',
    found: 1,
  },
  {
    name: 'operations',
    path: '/work',
    grid: 'Operations',
    sort: 'Requested',
    first: /…000000/,
    field: 'Filter: Operations',
    text: () => 'op_004242',
    found: 1,
  },
  {
    name: 'batches',
    path: '/work?tab=batches',
    grid: 'Batches',
    sort: 'Requested',
    first: /…000000/,
    field: 'Filter: Batches',
    text: () => 'bat_0042',
    found: 100,
  },
  {
    name: 'deliveries of a webhook',
    path: `/webhooks/${WEBHOOK}`,
    grid: 'Deliveries',
    sort: 'Time',
    first: new RegExp(timeShown(0)),
    field: 'Filter: Deliveries',
    text: async (quire) => {
      const path = { webhook_id: WEBHOOK };
      const { items } = await quire.api.listWebhookDeliveries({ path, query: { limit: 1, offset: 4_242 } });
      return items[0]?.delivery_id ?? '';
    },
    found: 1,
  },
];

const counted = (rows: number): string => {
  if (rows > 200) return `1–200 of ${rows.toLocaleString('en')} rows`;
  return rows === 1 ? '1 row' : `${String(rows)} rows`;
};

describe('ten thousand rows', () => {
  let world: World;
  let folder: string;
  let key: string;
  let quire: Quire;
  const seconds: Record<string, object> = {};
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quire-rows-'));
    await writeEvents(join(folder, 'events.db'), history());
    world = await startWorld({ DATA_DIR: folder });
    ({ key, quire } = await world.tenant(TENANT));
    await until(async () => (await fetch(`${world.url}/health/ready`)).ok, 600);
  });
  after(async () => {
    console.table(seconds);
    await world.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  });

  const timed = async (work: () => Promise<unknown>): Promise<string> => {
    const began = performance.now();
    await work();
    return ((performance.now() - began) / 1_000).toFixed(2);
  };
  const firstRow = (page: Page, grid: string) =>
    page.getByRole('grid', { name: grid }).getByRole('row').nth(1).innerText();

  for (const { name, path, grid, sort, first, field, text, found } of TABLES)
    it(`of ${name} open, sort and filter as a whole, and say how many there are`, async () => {
      const page = await world.open('/overview', { key });
      await page.getByRole('heading', { level: 1 }).waitFor();
      const open = await timed(async () => {
        await page.goto(`${world.url}/app${path}`);
        await page.getByText(counted(ROWS), { exact: true }).waitFor();
      });
      const sorted = await timed(async () => {
        await page.getByRole('grid', { name: grid }).getByRole('button', { name: sort }).click();
        await until(async () => first.test(await firstRow(page, grid)), 20);
      });
      const wanted = await text(quire);
      const filtered = await timed(async () => {
        await page.getByLabel(field).fill(wanted);
        await page.keyboard.press('Enter');
        await page.getByText(counted(found), { exact: true }).first().waitFor();
      });
      seconds[name] = { open, sorted, filtered };
      expect(await axeFindings(page)).to.deep.equal([]);
      expect(faults(page)).to.deep.equal([]);
      await page.context().close();
    });
});
