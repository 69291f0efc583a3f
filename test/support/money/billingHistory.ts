import type { JsonObject } from '../../../domain/kernel/json.ts';
import { oneCost } from './costHistory.ts';
import type { MemoryLog } from '../logs/memoryLog.ts';
import type { Random } from '../../../engine/test/support/random.ts';
import { seededRandom } from '../../../engine/test/support/random.ts';

/** What the read models must say of one tenant, kept by plain addition. */
export interface TenantModel {
  readonly tenant_id: string;
  purchased: number;
  adjusted: number;
  used: number;
  held: number;
  freeUsed: number;
  freeHeld: number;
  grants: number;
  plan: string;
  readonly holds: Map<string, JsonObject & { credits: number; free_pages: number; pages: number }>;
  readonly sales: { grant_id: string; left: number }[];
  postings: number;
  refundedCredits: number;
}

export const balanceIn = ({ purchased, adjusted, used }: TenantModel): number => purchased + adjusted - used;

const RATE = 40;

export interface Bookkeeper {
  readonly model: TenantModel;
  readonly sell: (credits: number) => void;
  readonly refund: () => void;
  /** Undoes half of the last refund. */
  readonly reverse: () => void;
  readonly adjust: (credits: number) => void;
  readonly hold: (pages: number, freePages: number) => string;
  readonly settle: (holdId: string) => void;
  readonly release: (holdId: string) => void;
  readonly charge: (credits: number) => void;
  readonly setPlan: (plan: string) => void;
}

/** Appends the events of one tenant's account and keeps the model beside them. */
export const bookkeeper = (log: MemoryLog, tenant_id: string): Bookkeeper => {
  const stream = `account-${tenant_id}`;
  const model: TenantModel = {
    tenant_id,
    purchased: 0,
    adjusted: 0,
    used: 0,
    held: 0,
    freeUsed: 0,
    freeHeld: 0,
    grants: 0,
    plan: 'free',
    holds: new Map(),
    sales: [],
    postings: 0,
    refundedCredits: 0,
  };
  let minute = 0;
  let last: { readonly refund_id: string; readonly grant_id: string; left: number } | undefined;
  const now = () => new Date(Date.UTC(2026, 0, 30, 22, (minute += 7))).toISOString();
  const id = (prefix: string) => `${prefix}_${tenant_id}_${String(log.events().length)}`;
  const append = (type: string, data: JsonObject) => log.append(stream, type, data);
  const scope = {
    project_id: 'p',
    task_id: 't "quoted" \\',
    document_id: null,
    job_id: null,
    api_key_id: 'key_1',
  };
  const work = { operation: 'extract', category: 'extraction', billing_type: 'full_service' };
  append('AccountOpened', { tenant_id, created_at: now() });

  const burn = (data: JsonObject & { credits: number; pages: number; free_pages: number }) => {
    model.used += data.credits;
    model.freeUsed += data.free_pages;
    const usage_id = id('use');
    const rows = data.free_pages > 0 && data.free_pages < data.pages ? 2 : 1;
    model.postings += rows;
    append('CreditsBurned', {
      usage_id,
      operation_id: usage_id,
      fingerprint: null,
      ...work,
      ...scope,
      billing_config_version: 1,
      credits_per_page: RATE,
      ...data,
      created_at: now(),
      balance_after: balanceIn(model),
    });
  };

  const close = (holdId: string) => {
    const hold = model.holds.get(holdId)!;
    model.holds.delete(holdId);
    model.held -= hold.credits;
    model.freeHeld -= hold.free_pages;
    return hold;
  };

  return {
    model,
    sell: (credits) => {
      const grant_id = id('grt');
      model.purchased += credits;
      model.grants += 1;
      model.postings += 1;
      model.sales.push({ grant_id, left: credits });
      append('CreditsGranted', {
        grant_id,
        provider: 'stripe',
        provider_txn_id: grant_id,
        credits,
        currency: 'EUR',
        gross_amount_minor: credits,
        vat_amount_minor: 1,
        provider_fee_minor: 2,
        price_list_version: 1,
        price_per_1000_credits: '0.92',
        tax_basis: 'exclusive',
        fx_rate_to_usd: '1.10',
        fx_rate_date: '2026-01-30',
        fingerprint: 'f',
        invoice_ref: null,
        note: 'nul \u0000 inside',
        occurred_at: now(),
        created_at: now(),
        balance_after: balanceIn(model),
      });
    },
    refund: () => {
      const sale = model.sales.at(-1);
      if (sale === undefined || sale.left === 0) return;
      const credits = Math.ceil(sale.left / 2);
      sale.left -= credits;
      model.purchased -= credits;
      model.grants += 1;
      model.postings += 1;
      model.refundedCredits += credits;
      const refund_id = id('rfd');
      last = { refund_id, grant_id: sale.grant_id, left: credits };
      append('CreditsRefunded', {
        refund_id,
        grant_id: sale.grant_id,
        provider: 'stripe',
        provider_txn_id: refund_id,
        credits,
        currency: 'EUR',
        gross_amount_minor: credits,
        vat_amount_minor: 0,
        provider_fee_minor: 0,
        fingerprint: 'f',
        reason: null,
        occurred_at: now(),
        created_at: now(),
        balance_after: balanceIn(model),
      });
    },
    reverse: () => {
      if (last === undefined || last.left === 0) return;
      const { refund_id, grant_id } = last;
      const credits = Math.ceil(last.left / 2);
      last.left -= credits;
      model.purchased += credits;
      model.grants += 1;
      model.postings += 1;
      model.refundedCredits -= credits;
      const reversal_id = id('rev');
      append('RefundReversed', {
        reversal_id,
        refund_id,
        grant_id,
        provider: 'stripe',
        provider_txn_id: reversal_id,
        credits,
        currency: 'EUR',
        gross_amount_minor: credits,
        vat_amount_minor: 0,
        provider_fee_minor: 0,
        fingerprint: 'f',
        reason: null,
        occurred_at: now(),
        created_at: now(),
        balance_after: balanceIn(model),
      });
    },
    adjust: (credits) => {
      model.adjusted += credits;
      model.postings += 1;
      append('CreditsAdjusted', {
        adjustment_id: id('adj'),
        idempotency_key: null,
        fingerprint: 'f',
        credits,
        reason: 'goodwill',
        allow_negative: true,
        created_at: now(),
        balance_after: balanceIn(model),
      });
    },
    hold: (pages, freePages) => {
      const hold_id = id('hold');
      const credits = (pages - freePages) * RATE;
      const data = { hold_id, pages, free_pages: freePages, credits };
      model.holds.set(hold_id, data);
      model.held += credits;
      model.freeHeld += freePages;
      append('CreditsHeld', {
        ...data,
        operation_id: hold_id,
        ...work,
        extraction_mode: 'standard',
        credits_per_page: RATE,
        billing_config_version: 1,
        created_at: now(),
        expires_at: now(),
      });
      return hold_id;
    },
    settle: (holdId) => {
      const { pages, free_pages, credits } = close(holdId);
      burn({
        hold_id: holdId,
        idempotency_key: null,
        extraction_mode: 'standard',
        pages,
        free_pages,
        credits,
      });
    },
    release: (holdId) => {
      close(holdId);
      append('HoldReleased', { hold_id: holdId, reason: 'failed', released_at: now() });
    },
    charge: (credits) =>
      burn({
        hold_id: null,
        idempotency_key: 'k',
        extraction_mode: null,
        pages: 0,
        free_pages: 0,
        credits,
        operation: 'examples_export',
      }),
    setPlan: (plan) => {
      append('PlanSet', { plan, previous_plan: model.plan, reason: null, set_at: now() });
      model.plan = plan;
    },
  };
};

const step = (books: Bookkeeper, random: Random) => {
  const open = [...books.model.holds.keys()];
  const some = open[random.between(0, Math.max(open.length - 1, 0))];
  const pages = random.between(1, 4);
  const actions: readonly (() => void)[] = [
    () => books.sell(random.between(100, 1100)),
    () => books.refund(),
    () => books.reverse(),
    () => books.adjust(random.between(-50, 50) || 7),
    () => void books.hold(pages, random.between(0, pages)),
    () => void books.hold(pages, 0),
    () => (some === undefined ? undefined : books.settle(some)),
    () => (some === undefined ? undefined : books.settle(some)),
    () => (some === undefined ? undefined : books.release(some)),
    () => books.charge(random.between(0, 30)),
    () => books.setPlan(random.pick(['paid', 'enterprise'])),
  ];
  random.pick(actions)();
};

const reference = (log: MemoryLog, n: number) => {
  const at = `2026-01-1${String(n)}T00:00:00.000Z`;
  log.append('priceList', 'PriceListPublished', {
    version: n + 1,
    entries: [
      { currency: 'USD', price_per_1000_credits: '1.00', tax_basis: 'exclusive', minor_unit_digits: 2 },
    ],
    note: null,
    published_at: at,
    published_by: 'key_1',
  });
  const rate = {
    operation: 'extract',
    extraction_mode: 'fast',
    billing_type: 'byok',
    credits_per_page: n + 5,
  };
  if (n > 0) {
    log.append('billingConfig', 'BillingRateSet', {
      version: n + 1,
      rate,
      created_at: at,
      created_by: 'key_1',
    });
    return;
  }
  log.append('billingConfig', 'BillingConfigPublished', {
    version: 1,
    terms: {
      free_pages: 50,
      examples_export_fee_credits: 5000,
      training: {
        base_credits: { light: 1, medium: 2, heavy: 3 },
        credits_per_example: 20,
        credits_per_metric_call: 10,
      },
      hold_ttl_seconds: 900,
    },
    rates: [rate, { ...rate, operation: 'to_markdown', extraction_mode: 'default', credits_per_page: 40 }],
    note: 'first',
    created_at: at,
    created_by: 'key_1',
  });
};

const oneExtraction = (log: MemoryLog, n: number) => {
  const id = `ext_${String(n)}`;
  const tenant_id = 't0';
  const document_id = `doc_${String(n)}`;
  const at = '2026-01-31T08:00:00.000Z';
  const kind = n % 2 === 0 ? 'extraction' : 'conversion';
  const Kind = n % 2 === 0 ? 'Extraction' : 'Conversion';
  const ids = { [`${kind}_id`]: id, tenant_id };
  log.append(`document-${document_id}`, 'DocumentRegistered', {
    document_id,
    tenant_id,
    project_id: 'p',
    task_id: 't',
    file_name: 'a\u0000b.pdf',
    mime_type: 'application/pdf',
    bytes: 10,
    pages: 2,
    sha256: 'aa',
    source: 'extract',
    created_at: at,
  });
  log.append(`${kind}-${id}`, `${Kind}Requested`, {
    ...ids,
    project_id: 'p',
    task_id: 't',
    document_id,
    document_sha256: 'aa',
    mode: 'standard',
    billing_type: 'byok',
    model: 'local/default',
    ocr_model: null,
    pages: 2,
    hold_id: null,
    api_key_id: 'key_1',
    requested_at: at,
  });
  if (n % 3 === 0) {
    log.append(`${kind}-${id}`, `${Kind}Failed`, { ...ids, code: 'extraction_failed', failed_at: at });
    return;
  }
  if (n % 3 === 1) return;
  const done = { status: 'partial', pages: 1, free_pages: 1, duration_ms: 5, completed_at: at };
  log.append(`${kind}-${id}`, `${Kind}Completed`, { ...ids, ...done });
};

const oneKey = (log: MemoryLog, n: number) => {
  const key_id = `key_${String(n)}`;
  const at = '2026-01-31T08:00:00.000Z';
  const hashed = { key_id, key_hash: `hash${String(n)}` };
  log.append(`apiKey-${key_id}`, 'ApiKeyIssued', {
    ...hashed,
    prefix: 'quire_a_ab',
    last4: 'wxyz',
    tenant_id: 't0',
    role: n % 2 === 0 ? 'admin' : 'tenant',
    name: null,
    expires_at: null,
    created_at: at,
    replaces: null,
  });
  if (n % 3 === 0) {
    const rotation = { replaced_by: 'key_new', expires_at: '2026-02-01T00:00:00.000Z', rotated_at: at };
    log.append(`apiKey-${key_id}`, 'ApiKeyRotated', { ...hashed, ...rotation });
  }
  if (n % 4 === 0) log.append(`apiKey-${key_id}`, 'ApiKeyRevoked', { ...hashed, revoked_at: at });
};

/** Appends a random history of all kinds of events, and gives the models of its tenants. */
export const billingHistory = (log: MemoryLog, seed: number, steps: number): readonly TenantModel[] => {
  const random = seededRandom(seed);
  const books = ['t0', 't1', 'acme.de:eu@x-1'].map((tenantId) => bookkeeper(log, tenantId));
  for (let n = 0; n < steps; n += 1) {
    step(random.pick(books), random);
    if (n % 40 === 0) oneExtraction(log, n / 40);
    if (n % 50 === 0) oneKey(log, n / 50);
    if (n % 12 === 0) oneCost(log, random, n / 12);
    if (n % 100 === 0 && n < 900) reference(log, n / 100);
    if (n % 60 === 0) log.append('somethingNew-1', 'NeverHeardOf', { n });
  }
  return books.map(({ model }) => model);
};
