import { type Row, table } from './engine/table.ts';

/**
 * Webhooks as they stand. `events`: types, with a space between. `failing_since`: null while the last attempt went
 * well.
 */
export const webhooks = table({
  name: 'webhooks',
  key: ['webhook_id'],
  columns: {
    webhook_id: 'sorted',
    tenant_id: 'sorted',
    position: 'position',
    url: 'text',
    events: 'text',
    /** Some of these are for operators: such a webhook gets them for every tenant. */
    for_operators: 'boolean',
    description: 'text?',
    low_balance_credits: 'int8?',
    /** Several levels, with a space between. */
    low_balance_at: 'text?',
    enabled: 'boolean',
    disabled_reason: 'text?',
    failing_since: 'text?',
    created_at: 'sorted',
    updated_at: 'text',
    removed_at: 'text?',
  },
  indexes: ['(tenant_id, position desc)', '(webhook_id) where for_operators'],
});

/**
 * One message for one webhook. `subject`: the stream that it is about, whose messages are sent in the order of
 * `position`. `retry_until`: what is pending after that has failed.
 */
export const webhookDeliveries = table({
  name: 'webhook_deliveries',
  key: ['delivery_id'],
  columns: {
    delivery_id: 'sorted',
    webhook_id: 'sorted',
    tenant_id: 'sorted',
    position: 'position',
    /** Orders the messages of one event. */
    turn: 'int4',
    event_id: 'text',
    event_type: 'text',
    subject: 'sorted',
    body: 'text',
    delivered: 'boolean',
    attempts: 'int4',
    response_status: 'int4?',
    error: 'text?',
    created_at: 'sorted',
    next_attempt_at: 'sorted',
    retry_until: 'sorted',
    last_attempt_at: 'text?',
    delivered_at: 'text?',
  },
  indexes: [
    '(webhook_id, position desc, turn desc)',
    '(created_at)',
    '(webhook_id, next_attempt_at) where not delivered',
    '(webhook_id, subject, position, turn) where not delivered',
  ],
});

/** Free pages that each tenant has used: a message is sent once when none are left. */
export const webhookFreePages = table({
  name: 'webhook_free_pages',
  key: ['tenant_id'],
  columns: { tenant_id: 'sorted', used: 'int8' },
});

/** How many pages are free for each tenant now: one row, `free_pages`. */
export const webhookTerms = table({
  name: 'webhook_terms',
  rowsOf: 'shared',
  key: ['term'],
  columns: { term: 'sorted', pages: 'int8' },
});

/** Credits that tenants used by UTC day: messages of a low balance say how long it lasts. */
export const webhookUses = table({
  name: 'webhook_uses',
  key: ['tenant_id', 'day'],
  columns: { tenant_id: 'sorted', day: 'sorted', used: 'int8 add' },
  fillfactor: 50,
});

export type WebhookRow = Row<typeof webhooks>;
export type DeliveryRow = Row<typeof webhookDeliveries>;
type UsedRow = Row<typeof webhookFreePages>;
type TermRow = Row<typeof webhookTerms>;
type UseRow = Row<typeof webhookUses>;

/** Rows in memory, that know which of them a fold has put. */
export interface TouchedRows extends WebhookRows {
  readonly knowDelivery: (row: DeliveryRow) => void;
  readonly knowUsed: (row: UsedRow) => void;
  readonly knowFreePages: (pages: number) => void;
  readonly knowUse: (row: UseRow) => void;
  readonly touched: () => {
    readonly webhooks: readonly WebhookRow[];
    readonly deliveries: readonly DeliveryRow[];
    readonly used: readonly UsedRow[];
    readonly terms: readonly TermRow[];
    /** What these events add. */
    readonly uses: readonly UseRow[];
  };
}

/** Rows by their key; `put` marks them. */
const marked = <R>(keyOf: (row: R) => string) => {
  const all = new Map<string, R>();
  const touched = new Set<string>();
  return {
    get: (key: string): R | undefined => all.get(key),
    know: (row: R): void => void all.set(keyOf(row), row),
    put: (row: R): void => {
      all.set(keyOf(row), row);
      touched.add(keyOf(row));
    },
    touched: (): readonly R[] => [...touched].map((key) => all.get(key)).filter((row) => row !== undefined),
  };
};

/** Webhooks by whose they are, so that an event finds those that it concerns. */
const byTenant = () => {
  const ids = new Map<string, Set<string>>();
  return {
    add: ({ tenant_id, webhook_id }: WebhookRow): void => {
      const of = ids.get(tenant_id);
      if (of === undefined) ids.set(tenant_id, new Set([webhook_id]));
      else of.add(webhook_id);
    },
    of: (tenantId: string): Iterable<string> => ids.get(tenantId) ?? [],
  };
};

/** What tenants used by UTC day: known before, and added by the events of a fold. */
const usesByDay = () => {
  const known = new Map<string, UseRow[]>();
  const added = new Map<string, { -readonly [Name in keyof UseRow]: UseRow[Name] }>();
  return {
    know: (row: UseRow): void => void known.set(row.tenant_id, [...(known.get(row.tenant_id) ?? []), row]),
    add: (tenant_id: string, day: string, credits: number): void => {
      const row = added.get(`${tenant_id} ${day}`) ?? { tenant_id, day, used: 0 };
      row.used += credits;
      added.set(`${tenant_id} ${day}`, row);
    },
    of: (tenantId: string): readonly (readonly [string, number])[] =>
      [
        ...(known.get(tenantId) ?? []),
        ...[...added.values()].filter((row) => row.tenant_id === tenantId),
      ].map(({ day, used }) => [day, used]),
    added: (): readonly UseRow[] => [...added.values()],
  };
};

/** Rows that a fold works on: those given, and what is made known later. */
export const keptWebhookRows = (known: { readonly webhooks: readonly WebhookRow[] }): TouchedRows => {
  const webhooks = marked<WebhookRow>(({ webhook_id }) => webhook_id);
  const deliveries = marked<DeliveryRow>(({ delivery_id }) => delivery_id);
  const used = marked<UsedRow>(({ tenant_id }) => tenant_id);
  const terms = marked<TermRow>(({ term }) => term);
  const uses = usesByDay();
  const tenants = byTenant();
  const operators = new Set<string>();
  const index = (row: WebhookRow): void => {
    tenants.add(row);
    if (row.for_operators) operators.add(row.webhook_id);
    else operators.delete(row.webhook_id);
  };
  const found = (ids: Iterable<string>): readonly WebhookRow[] =>
    [...ids].map((id) => webhooks.get(id)).filter((row) => row !== undefined);
  for (const row of known.webhooks) {
    webhooks.know(row);
    index(row);
  }
  const TERM = 'free_pages';
  return {
    webhook: webhooks.get,
    putWebhook: (row) => {
      webhooks.put(row);
      index(row);
    },
    ofTenant: (tenantId) => found(tenants.of(tenantId)),
    forOperators: () => found(operators),
    delivery: deliveries.get,
    putDelivery: deliveries.put,
    knowDelivery: deliveries.know,
    freePagesUsed: (tenantId) => used.get(tenantId)?.used ?? 0,
    putFreePagesUsed: (tenant_id, pages) => used.put({ tenant_id, used: pages }),
    knowUsed: used.know,
    freePages: () => terms.get(TERM)?.pages ?? 0,
    putFreePages: (pages) => terms.put({ term: TERM, pages }),
    knowFreePages: (pages) => terms.know({ term: TERM, pages }),
    usesOf: uses.of,
    addUse: uses.add,
    knowUse: uses.know,
    touched: () => ({
      webhooks: webhooks.touched(),
      deliveries: deliveries.touched(),
      used: used.touched(),
      terms: terms.touched(),
      uses: uses.added(),
    }),
  };
};

/** The rows that a fold reads and changes: all there are, or those that its events can touch. */
export interface WebhookRows {
  readonly webhook: (webhookId: string) => WebhookRow | undefined;
  readonly putWebhook: (row: WebhookRow) => void;
  /** Those of a tenant, removed ones too. */
  readonly ofTenant: (tenantId: string) => Iterable<WebhookRow>;
  /** Those that ask for something that only operators are told, removed ones too. */
  readonly forOperators: () => Iterable<WebhookRow>;
  readonly delivery: (deliveryId: string) => DeliveryRow | undefined;
  readonly putDelivery: (row: DeliveryRow) => void;
  readonly freePagesUsed: (tenantId: string) => number;
  readonly putFreePagesUsed: (tenantId: string, used: number) => void;
  readonly freePages: () => number;
  readonly putFreePages: (pages: number) => void;
  /** Credits that a tenant used, by UTC day. */
  readonly usesOf: (tenantId: string) => Iterable<readonly [day: string, credits: number]>;
  readonly addUse: (tenantId: string, day: string, credits: number) => void;
}
