import type { Row } from '../engine/table.ts';
import type { DeliveryRow, WebhookRow, WebhookRows } from './webhookFold.ts';
import type { webhookFreePages, webhookTerms } from './webhooks.schema.ts';

type UsedRow = Row<typeof webhookFreePages>;
type TermRow = Row<typeof webhookTerms>;

/** Rows in memory, that know which of them a fold has put. */
export interface TouchedRows extends WebhookRows {
  readonly knowDelivery: (row: DeliveryRow) => void;
  readonly knowUsed: (row: UsedRow) => void;
  readonly knowFreePages: (pages: number) => void;
  readonly touched: () => {
    readonly webhooks: readonly WebhookRow[];
    readonly deliveries: readonly DeliveryRow[];
    readonly used: readonly UsedRow[];
    readonly terms: readonly TermRow[];
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

/** Rows that a fold works on: those given, and what is made known later. */
export const keptWebhookRows = (known: { readonly webhooks: readonly WebhookRow[] }): TouchedRows => {
  const webhooks = marked<WebhookRow>(({ webhook_id }) => webhook_id);
  const deliveries = marked<DeliveryRow>(({ delivery_id }) => delivery_id);
  const used = marked<UsedRow>(({ tenant_id }) => tenant_id);
  const terms = marked<TermRow>(({ term }) => term);
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
    touched: () => ({
      webhooks: webhooks.touched(),
      deliveries: deliveries.touched(),
      used: used.touched(),
      terms: terms.touched(),
    }),
  };
};
