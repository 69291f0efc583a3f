import { omit, pick, type Projector, rowReader, type Table, textOf, wholeOf } from './engine/table.ts';
import {
  ALL_TENANT_EVENTS,
  balanceMessages,
  bodyOf,
  type Message,
  messageOf,
  OPERATOR_EVENT_TYPES,
  TEST_EVENT,
  tenantToldOf,
  TOLD_EVENTS,
} from '../domain/webhookMessages.ts';
import {
  type DeliveryRow,
  keptWebhookRows,
  type TouchedRows,
  webhookDeliveries,
  webhookFreePages,
  type WebhookRow,
  type WebhookRows,
  webhooks,
  webhookTerms,
  webhookUses,
} from './webhookRows.ts';
import { deliveryIdOf, lowBalanceLevels, triedUntil } from '../domain/webhook.ts';
import { PACE_DAYS_MAX, paceStart } from '../domain/account/forecast.ts';
import { only, type ProjectedEvent, type ProjectedEventOf, type SqlRow, type SqlTx } from './engine/ports.ts';
import { inserting, upserting } from './engine/bulk.ts';
import { finding, listing, type Page, paging, telling } from './engine/query.ts';
import { sortsBy } from './engine/sorts.ts';

type WebhookEvent = ProjectedEventOf<
  'WebhookCreated' | 'WebhookChanged' | 'WebhookSecretRotated' | 'WebhookDisabled' | 'WebhookRemoved'
>;

const settingsOf = ({ data }: ProjectedEventOf<'WebhookCreated' | 'WebhookChanged'>) => ({
  url: data.url,
  events: data.events.join(' '),
  for_operators: data.events.some((type) => OPERATOR_EVENT_TYPES.some((one) => one === type)),
  description: data.description,
  low_balance_credits: data.low_balance_credits,
  low_balance_at: data.low_balance_at === undefined ? null : data.low_balance_at.join(' '),
});

/** The balances below which a webhook is told, in credits. */
const levelsOf = (row: Pick<WebhookRow, 'low_balance_credits' | 'low_balance_at'>): readonly number[] =>
  lowBalanceLevels({
    low_balance_credits: row.low_balance_credits,
    low_balance_at: row.low_balance_at?.split(' ').map(Number),
  });

const createdRow = (event: ProjectedEventOf<'WebhookCreated'>): WebhookRow => {
  const { webhook_id, tenant_id, created_at } = event.data;
  return {
    ...settingsOf(event),
    webhook_id,
    tenant_id,
    position: event.position,
    created_at,
    updated_at: created_at,
    enabled: true,
    disabled_reason: null,
    failing_since: null,
    removed_at: null,
  };
};

const changedRow = (
  row: WebhookRow,
  event: Exclude<WebhookEvent, { type: 'WebhookCreated' }>,
): WebhookRow => {
  switch (event.type) {
    case 'WebhookChanged': {
      const { enabled, changed_at: updated_at } = event.data;
      // Three days of failing count from when it is enabled again, or told elsewhere.
      const isNew = event.data.url !== row.url || (enabled && !row.enabled);
      const failing_since = isNew ? null : row.failing_since;
      return { ...row, ...settingsOf(event), enabled, failing_since, disabled_reason: null, updated_at };
    }
    case 'WebhookSecretRotated':
      return { ...row, updated_at: event.data.rotated_at };
    case 'WebhookDisabled': {
      const { reason: disabled_reason, disabled_at: updated_at } = event.data;
      return { ...row, enabled: false, disabled_reason, updated_at };
    }
    case 'WebhookRemoved':
      return { ...row, removed_at: event.data.removed_at };
  }
};

const applyWebhook = (rows: WebhookRows, event: WebhookEvent): void => {
  if (event.type === 'WebhookCreated') {
    rows.putWebhook(createdRow(event));
    return;
  }
  const row = rows.webhook(event.data.webhook_id);
  if (row !== undefined) rows.putWebhook(changedRow(row, event));
};

const applyStart = (rows: WebhookRows, { data }: ProjectedEventOf<'WebhookDeliveryStarted'>): void => {
  const row = rows.delivery(data.delivery_id);
  if (row !== undefined) rows.putDelivery({ ...row, attempts: data.attempt });
};

/** Another attempt was started since, or delivered it: the failure of this one settles nothing. */
const isOvertaken = ({ delivered, attempts }: DeliveryRow, attempt: number): boolean =>
  delivered || attempt < attempts;

type Attempted = ProjectedEventOf<'WebhookDeliveryAttempted'>;

/** Since when nothing arrives, after one attempt more. */
const applyFailing = (rows: WebhookRows, { data: { webhook_id, error, attempted_at } }: Attempted): void => {
  const webhook = rows.webhook(webhook_id);
  const failing_since = error === null ? null : (webhook?.failing_since ?? attempted_at);
  if (webhook !== undefined && webhook.failing_since !== failing_since)
    rows.putWebhook({ ...webhook, failing_since });
};

const applyAttempt = (rows: WebhookRows, { data }: Attempted): void => {
  const { delivery_id, attempt, error, response_status, attempted_at } = data;
  const row = rows.delivery(delivery_id);
  if (row === undefined || (error !== null && isOvertaken(row, attempt))) return;
  const delivered = error === null;
  const attempts = Math.max(row.attempts, attempt);
  rows.putDelivery({
    ...row,
    attempts,
    error,
    response_status,
    delivered,
    last_attempt_at: attempted_at,
    delivered_at: delivered ? attempted_at : row.delivered_at,
    next_attempt_at: data.next_attempt_at ?? row.next_attempt_at,
  });
};

/** A repeated message goes to the end of its subject: later messages do not wait for it. */
const applyResent = (
  rows: WebhookRows,
  { data, position }: ProjectedEventOf<'WebhookDeliveryResent'>,
): void => {
  const row = rows.delivery(data.delivery_id);
  if (row === undefined) return;
  const at = data.resent_at;
  rows.putDelivery({ ...row, position, delivered: false, next_attempt_at: at, retry_until: triedUntil(at) });
};

/** `*` is everything about a tenant; operators' messages are asked for by name, and a test is for one webhook. */
const isWanted = ({ webhook_id, enabled, removed_at, events }: WebhookRow, message: Message): boolean => {
  if (!enabled || removed_at !== null) return false;
  const { type } = message;
  if (type === TEST_EVENT) return message.data.webhook_id === webhook_id;
  const wanted = events.split(' ');
  return (
    wanted.includes(type) || (wanted.includes(ALL_TENANT_EVENTS) && !OPERATOR_EVENT_TYPES.includes(type))
  );
};

/** Of the command that made it: the same at each rebuild. */
const recordedAt = ({ metadata, id }: ProjectedEvent): string => {
  const at = metadata['recorded_at'];
  if (typeof at !== 'string') throw new Error(`event ${id} does not say when it was recorded`);
  return at;
};

/** The ID of a delivery, and what it waits in line with. A test names itself, and waits for nothing that is stuck. */
const nameOf = (event: ProjectedEvent, webhookId: string, type: Message['type']) => {
  if (event.type !== 'WebhookTested')
    return { delivery_id: deliveryIdOf(event.id, webhookId, type), subject: event.stream };
  const { delivery_id } = event.data;
  return { delivery_id, subject: delivery_id };
};

/** Told to one webhook: the row has all that it takes to send it, at whatever time. */
const deliver = (
  rows: WebhookRows,
  { event, webhook }: { readonly event: ProjectedEvent; readonly webhook: WebhookRow },
  { message, turn }: { readonly message: Message; readonly turn: number },
): void => {
  const { webhook_id, tenant_id } = webhook;
  const { id: event_id, position } = event;
  const created_at = recordedAt(event);
  rows.putDelivery({
    ...nameOf(event, webhook_id, message.type),
    webhook_id,
    tenant_id,
    position,
    turn,
    event_id,
    event_type: message.type,
    body: bodyOf(message, { at: created_at, tenant_id: tenantToldOf(event) }),
    delivered: false,
    attempts: 0,
    response_status: null,
    error: null,
    created_at,
    next_attempt_at: created_at,
    retry_until: triedUntil(created_at),
    last_attempt_at: null,
    delivered_at: null,
  });
};

/** Counts free pages; the message, if these were the last. */
const freePagesMessages = (rows: WebhookRows, event: ProjectedEvent): readonly Message[] => {
  if (event.type !== 'CreditsBurned' || event.data.free_pages === 0) return [];
  const tenant = tenantToldOf(event) ?? '';
  const before = rows.freePagesUsed(tenant);
  const after = before + event.data.free_pages;
  rows.putFreePagesUsed(tenant, after);
  const free_pages = rows.freePages();
  return before < free_pages && after >= free_pages
    ? [{ type: 'free_pages.used_up', data: { free_pages } }]
    : [];
};

const noteUse = (rows: WebhookRows, event: ProjectedEvent): void => {
  if (event.type !== 'CreditsBurned' || event.data.credits === 0) return;
  rows.addUse(tenantToldOf(event) ?? '', event.data.created_at.slice(0, 10), event.data.credits);
};

const tell = (rows: WebhookRows, event: ProjectedEvent): void => {
  noteUse(rows, event);
  const own = messageOf(event);
  const free = freePagesMessages(rows, event);
  const forOperators = own !== undefined && OPERATOR_EVENT_TYPES.includes(own.type);
  const tenant = tenantToldOf(event);
  const candidates = forOperators ? rows.forOperators() : tenant === null ? [] : rows.ofTenant(tenant);
  for (const webhook of [...candidates]) {
    const balance = balanceMessages(event, levelsOf(webhook), () => rows.usesOf(tenant ?? ''));
    const messages = [...(own === undefined ? [] : [own]), ...balance, ...free];
    for (const [turn, message] of messages.entries())
      if (isWanted(webhook, message)) deliver(rows, { event, webhook }, { message, turn });
  }
};

/** What one event changes. */
export const applyEvent = (rows: WebhookRows, event: ProjectedEvent): void => {
  switch (event.type) {
    case 'WebhookCreated':
    case 'WebhookChanged':
    case 'WebhookSecretRotated':
    case 'WebhookDisabled':
    case 'WebhookRemoved':
      applyWebhook(rows, event);
      return;
    case 'WebhookDeliveryStarted':
      applyStart(rows, event);
      return;
    case 'WebhookDeliveryAttempted':
      applyFailing(rows, event);
      applyAttempt(rows, event);
      return;
    case 'WebhookDeliveryResent':
      applyResent(rows, event);
      return;
    case 'BillingConfigPublished':
      rows.putFreePages(event.data.terms.free_pages);
      return;
    default:
      tell(rows, event);
  }
};

const readWebhook = rowReader(webhooks.columns);
const readUse = rowReader(webhookUses.columns);
const readDelivery = rowReader(webhookDeliveries.columns);

const DELIVERY_EVENTS = [
  'WebhookDeliveryStarted',
  'WebhookDeliveryAttempted',
  'WebhookDeliveryResent',
] as const;

const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)];

/** The rows that these events can touch. */
const load = async (tx: SqlTx, schema: string, events: readonly ProjectedEvent[]): Promise<TouchedRows> => {
  const tenants = unique(events.map(tenantToldOf).filter((tenant) => tenant !== null));
  const found = await tx.query(
    `select * from ${schema}.webhooks where tenant_id = any($1::text[]) or for_operators`,
    [tenants],
  );
  const rows = keptWebhookRows({ webhooks: found.map(readWebhook) });
  const settled = only(events, ...DELIVERY_EVENTS);
  if (settled.length > 0) {
    const ids = unique(settled.map(({ data }) => data.delivery_id));
    const known = `select * from ${schema}.webhook_deliveries where delivery_id = any($1::text[])`;
    for (const row of await tx.query(known, [ids])) rows.knowDelivery(readDelivery(row));
  }
  const burns = only(events, 'CreditsBurned').filter(({ data }) => data.free_pages > 0);
  if (burns.length > 0) {
    const terms = await tx.query(`select pages from ${schema}.webhook_terms`);
    for (const row of terms) rows.knowFreePages(wholeOf(row, 'pages'));
    const used = `select tenant_id, used from ${schema}.webhook_free_pages where tenant_id = any($1::text[])`;
    const readUsed = rowReader(webhookFreePages.columns);
    for (const row of (await tx.query(used, [tenants])).map(readUsed)) rows.knowUsed(row);
  }
  await loadUses(tx, schema, { rows, events, webhooks: found.map(readWebhook) });
  return rows;
};

/** What tenants with levels used in the days that forecasts count. */
const loadUses = async (
  tx: SqlTx,
  schema: string,
  of: {
    readonly rows: TouchedRows;
    readonly events: readonly ProjectedEvent[];
    readonly webhooks: readonly WebhookRow[];
  },
): Promise<void> => {
  const made = only(of.events, 'WebhookCreated', 'WebhookChanged').map(({ data }) => data.tenant_id);
  const levelled = of.webhooks.filter((row) => row.removed_at === null && levelsOf(row).length > 0);
  const tenants = unique([...levelled.map(({ tenant_id }) => tenant_id), ...made]);
  const days = of.events.flatMap(({ data }) => ('created_at' in data ? [data.created_at.slice(0, 10)] : []));
  const first = days.reduce((a, b) => (a < b ? a : b), days[0] ?? '');
  if (tenants.length === 0 || first === '') return;
  const uses = `select * from ${schema}.webhook_uses where tenant_id = any($1::text[]) and day >= $2`;
  for (const row of await tx.query(uses, [tenants, paceStart(first, PACE_DAYS_MAX)]))
    of.rows.knowUse(readUse(row));
};

/** Puts whole rows in the place of those with the same key. */
const replacing = <T extends Table>(into: T) => {
  const insert = inserting(into);
  const [key = ''] = into.key;
  return async (tx: SqlTx, schema: string, rows: Parameters<typeof insert>[2]): Promise<void> => {
    if (rows.length === 0) return;
    const keys = rows.map((row) => String((row as Readonly<Record<string, unknown>>)[key]));
    await tx.query(`delete from ${schema}.${into.name} where ${key} = any($1::text[])`, [keys]);
    await insert(tx, schema, rows);
  };
};

const putWebhooks = replacing(webhooks);
const putDeliveries = replacing(webhookDeliveries);
const putUsed = replacing(webhookFreePages);
const putTerms = replacing(webhookTerms);
const addUses = upserting(webhookUses);

const fold = async (tx: SqlTx, schema: string, events: readonly ProjectedEvent[]): Promise<void> => {
  if (events.length === 0) return;
  const rows = await load(tx, schema, events);
  for (const event of events) applyEvent(rows, event);
  const touched = rows.touched();
  await putWebhooks(tx, schema, touched.webhooks);
  await putDeliveries(tx, schema, touched.deliveries);
  await putUsed(tx, schema, touched.used);
  await putTerms(tx, schema, touched.terms);
  await addUses(tx, schema, touched.uses);
};

/** What pruning before $1 at $2 removes, of the tenant $3 or of all: whatever is still to be sent stays. */
const PRUNED =
  'created_at < $1 and (delivered or retry_until <= $2) and ($3::text is null or tenant_id = $3::text)';

/**
 * Where to cut what was created before $1 and is settled at $2, of the tenant $3 or of all, so that about $4 deliveries
 * go at a time: the last instant of each piece, at most $5 of them, with how many deliveries are in it.
 */
export const prunableDeliveries = listing(
  `select max(created_at) as last_at, count(*)::int8 as deliveries from (
     select created_at, (row_number() over (order by created_at) - 1) / $4::int8 as piece
     from (select created_at from read.webhook_deliveries where ${PRUNED}
       order by created_at limit $4::int8 * $5::int8) settled) pieces
   group by piece order by piece`,
  (
    {
      before,
      now,
      tenant_id,
    }: { readonly before: string; readonly now: string; readonly tenant_id: string | null },
    { piece, pieces }: { readonly piece: number; readonly pieces: number },
  ) => [before, now, tenant_id, piece, pieces],
  rowReader({ last_at: 'sorted', deliveries: 'int8' }),
);

/** Webhooks, and the messages sent or to be sent to each. */
export const webhooksProjector: Projector = {
  name: 'webhooks',
  version: 6,
  eventTypes: [
    ...TOLD_EVENTS,
    'CreditsBurned',
    'BillingConfigPublished',
    'WebhookCreated',
    'WebhookChanged',
    'WebhookSecretRotated',
    'WebhookDisabled',
    'WebhookRemoved',
    ...DELIVERY_EVENTS,
    'DeliveriesPruned',
  ],
  tables: [webhooks, webhookDeliveries, webhookFreePages, webhookTerms, webhookUses],
  // Operators of any tenant are told of these.
  ownerOf: ({ type }) => (type === 'DriftFound' || type === 'AuditFound' ? null : undefined),
  apply: async (tx, { schema, events }) => {
    let from = 0;
    for (const [at, event] of events.entries()) {
      if (event.type !== 'DeliveriesPruned') continue;
      await fold(tx, schema, events.slice(from, at));
      const { before, pruned_at, tenant_id = null } = event.data;
      await tx.query(`delete from ${schema}.webhook_deliveries where ${PRUNED}`, [
        before,
        pruned_at,
        tenant_id,
      ]);
      from = at + 1;
    }
    await fold(tx, schema, events.slice(from));
  },
};

interface WebhooksQuery extends Page {
  readonly tenant_id: string;
}

const readListedRow = rowReader(omit(webhooks.columns, 'position', 'for_operators', 'removed_at'));
const readListed = (row: SqlRow) => {
  const listed = readListedRow(row);
  return { ...listed, low_balance_at: [...levelsOf(listed)] };
};

/** A tenant's webhooks, newest first, and how many there are in all. */
export const webhooksOfTenant = paging(
  {
    name: 'webhooks',
    chosen: 'from read.webhooks where tenant_id = $1 and removed_at is null',
    sorts: {
      ...sortsBy(webhooks.columns, 'webhook_id', 'enabled', 'disabled_reason', 'failing_since'),
      ...sortsBy(webhooks.columns, 'low_balance_credits', 'created_at', 'updated_at'),
    },
    searched: { columns: ['webhook_id', 'events', 'disabled_reason'], written: ['url', 'description'] },
  },
  (query: WebhooksQuery) => [query.tenant_id],
  readListed,
);

/** The IDs of a tenant's webhooks, the oldest first. */
export const webhookIdsOfTenant = listing(
  'select webhook_id from read.webhooks where tenant_id = $1 and removed_at is null order by position',
  (tenantId: string) => [tenantId],
  (row) => textOf(row, 'webhook_id'),
);

/** Since when each attempt at a webhook has failed; null: the last one went well, or there was none. */
export const failingSince = finding(
  'select failing_since from read.webhooks where webhook_id = $1',
  (webhookId: string) => [webhookId],
  rowReader(pick(webhooks.columns, 'failing_since')),
);

/** Those of some webhooks that were removed. */
export const webhooksRemoved = listing(
  'select webhook_id from read.webhooks where webhook_id = any($1::text[]) and removed_at is not null',
  (webhookIds: readonly string[]) => [webhookIds],
  (row) => textOf(row, 'webhook_id'),
);

/** Webhooks that the service disabled and nobody has enabled since. */
export const disabledWebhooks = telling(
  'select count(*) as count from read.webhooks where disabled_reason is not null and removed_at is null',
  () => [],
  rowReader({ count: 'int8' }),
);
