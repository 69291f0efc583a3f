import {
  ACCOUNT,
  at,
  change,
  dropTail,
  forgeAdjustment,
  paidSale,
  parsed,
  positionOfLast,
  rebalance,
  saleAndClaim,
  set,
  setMeta,
  type Change,
  type Edit,
} from './editing.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import type { Intruder } from '../tampering.ts';

/** Metadata changed, with every hash, ID and digest that follows. */
export const WHO: readonly Edit[] = [
  {
    name: 'who did it (actor)',
    foundBy: 'seal',
    make: setMeta('CreditsAdjusted', (meta) => ({ ...meta, actor: { key_id: 'key_other', role: 'admin' } })),
  },
  {
    name: 'whose it is (tenant_id)',
    foundBy: 'audit',
    make: setMeta('CreditsAdjusted', (meta) => ({ ...meta, tenant_id: 'other' })),
  },
  {
    name: 'when it was recorded (recorded_at)',
    foundBy: 'audit',
    make: setMeta('CreditsAdjusted', (meta) => ({ ...meta, recorded_at: at(meta['recorded_at'], 60_000) })),
  },
  {
    name: 'what caused it (causation_id)',
    foundBy: 'seal',
    make: setMeta('CreditsAdjusted', (meta) => ({ ...meta, causation_id: 'another' })),
  },
];

/** Changes every event about one piece of billed work, by type, and every balance after it. */
const rebilled = (intruder: Intruder, like: string, changes: Readonly<Record<string, Change>>): void => {
  const [burn] = intruder.all(
    `stream = '${ACCOUNT}' and type = 'CreditsBurned' and data like '${like}' order by position limit 1`,
  );
  const { operation_id: work } = parsed(burn?.data ?? '{}') as { readonly operation_id: string };
  for (const [type, members] of Object.entries(changes)) set(type, members, `%"${work}"%`)(intruder);
  rebalance(intruder, ACCOUNT);
};

/** A hold or a burn whose pages are all paid. */
const allPaid: Change = (data) => ({
  ...data,
  free_pages: 0,
  credits: Number(data['pages']) * Number(data['credits_per_page']),
});

const DAYS_30_MS = 30 * 86_400_000;

/** Every config of prices is as it was, and was published 30 days earlier. */
const publishedEarlier = (intruder: Intruder): void => {
  for (const event of intruder.all(`stream = 'billingConfig'`))
    change(intruder, event, {
      data: (data) => ({ ...data, created_at: at(data['created_at'], -DAYS_30_MS) }),
      metadata: (meta) => ({ ...meta, recorded_at: at(meta['recorded_at'], -DAYS_30_MS) }),
    });
};

/** Bills work by the config that the last change of a rate replaced, at the rate that it has. */
const billedAsBefore = (intruder: Intruder): void => {
  const { version, rates } = parsed(intruder.all(LAST_WHOLE_CONFIG)[0]?.data ?? '{}');
  const fast = (rates as readonly JsonObject[]).find(
    (rate) => rate['extraction_mode'] === 'fast' && rate['billing_type'] === 'full_service',
  );
  const by: Change = (data) => ({
    ...data,
    billing_config_version: version ?? null,
    credits_per_page: fast?.['credits_per_page'] ?? null,
  });
  rebilled(intruder, '%"extraction_mode":"fast"%', { CreditsHeld: by, CreditsBurned: by });
};
const LAST_WHOLE_CONFIG = `type = 'BillingConfigPublished' order by position desc limit 1`;

/** Members of events changed, with every hash, ID and digest that follows. */
export const MONEY: readonly Edit[] = [
  { name: 'the fee of a sale, and in its claim too', foundBy: 'seal', make: saleAndClaim },
  {
    name: 'a model’s price',
    foundBy: 'seal',
    make: set('ProviderPricePublished', { input_usd_per_million_tokens: '0.14' }),
  },
  {
    name: 'the hash of an API key',
    foundBy: 'seal',
    make: set('ApiKeyIssued', { key_hash: 'a'.repeat(64) }),
  },
  { name: 'a plan', foundBy: 'audit', make: set('PlanSet', { previous_plan: 'enterprise' }) },
  {
    name: 'the fee of a sale',
    foundBy: 'audit',
    make: set('CreditsGranted', { provider_fee_minor: 17 }, paidSale),
  },
  {
    name: 'the credits of a sale, within its price, and every balance after it',
    foundBy: 'audit',
    make: (intruder) => {
      set('CreditsGranted', (data) => ({ ...data, credits: Number(data['credits']) + 1 }))(intruder);
      rebalance(intruder, ACCOUNT);
    },
  },
  {
    name: 'a bonus of a sale that had none',
    foundBy: 'audit',
    make: set('CreditsGranted', { bonus_credits: 100 }, paidSale),
  },
  {
    name: 'the payout of a sale, which its claim does not say',
    foundBy: 'audit',
    check: 'claim',
    make: set('CreditsGranted', { payout_id: 'po_forged' }, paidSale),
  },
  {
    name: 'when a sale happened',
    foundBy: 'audit',
    make: set('CreditsGranted', (data) => ({ ...data, occurred_at: at(data['occurred_at'], -86_400_000) })),
  },
  {
    name: 'when a sale was made',
    foundBy: 'audit',
    make: set('CreditsGranted', (data) => ({ ...data, created_at: at(data['created_at'], -3_600_000) })),
  },
  {
    name: 'the money of a refund',
    foundBy: 'audit',
    make: set('CreditsRefunded', { gross_amount_minor: 1 }),
  },
  {
    name: 'the pages and credits of a burn, and every balance after it',
    foundBy: 'audit',
    make: (intruder) => {
      set(
        'CreditsBurned',
        (data) => ({ ...data, pages: Number(data['pages']) + 1 }),
        '%"operation":"extract"%',
      )(intruder);
      rebalance(intruder, ACCOUNT);
    },
  },
  {
    name: 'the tags of a burn, which its hold does not have',
    foundBy: 'audit',
    check: 'hold',
    make: set('CreditsBurned', (data) => ({ ...data, tags: { team: 'other' } }), '%"operation":"extract"%'),
  },
  {
    name: 'the project of a burn, which its hold says otherwise',
    foundBy: 'audit',
    check: 'hold',
    make: set('CreditsBurned', { project_id: 'other' }, '%"operation":"extract"%'),
  },
  {
    name: 'free pages turned into paid ones, and every sum after it',
    foundBy: 'audit',
    check: 'available',
    make: (intruder) =>
      rebilled(intruder, '%"operation":"extract"%', {
        CreditsHeld: allPaid,
        CreditsBurned: allPaid,
        ExtractionCompleted: (data) => ({ ...data, free_pages: 0 }),
      }),
  },
  {
    name: 'ten pages for one, all of them paid with free ones left, and every sum after it',
    foundBy: 'audit',
    check: 'available',
    make: (intruder) => {
      const ten: Change = (data) => ({ ...data, pages: 10 });
      const paid: Change = (data) => allPaid(ten(data));
      const done: Change = (data) => ({ ...ten(data), free_pages: 0 });
      const [held, asked] = [
        { CreditsHeld: paid, CreditsBurned: paid },
        { ExtractionRequested: ten, ExtractionCompleted: done },
      ];
      rebilled(intruder, '%"operation":"extract"%', { ...held, ...asked });
    },
  },
  {
    name: 'a rate that was replaced 30 days before',
    foundBy: 'audit',
    check: 'rate',
    make: (intruder) => {
      publishedEarlier(intruder);
      billedAsBefore(intruder);
    },
  },
  {
    name: 'when a hold runs out',
    foundBy: 'seal',
    make: set('CreditsHeld', (data) => ({ ...data, expires_at: at(data['expires_at'], 60_000) })),
  },
  {
    name: 'a price list that sales point at',
    foundBy: 'audit',
    make: (intruder) => {
      const event = intruder.last('priceList');
      change(intruder, event, { data: (data) => parsed(JSON.stringify(data).replace('"0.92"', '"0.95"')) });
    },
  },
  {
    name: 'an exchange rate that sales were booked at',
    foundBy: 'audit',
    make: set(
      'FxRatesPublished',
      (data) => parsed(JSON.stringify(data).replace('1.0842', '1.0843')),
      '%2026-01-05%',
    ),
  },
  { name: 'the tokens of a model call', foundBy: 'seal', make: set('LlmCostLogged', { input_tokens: 1 }) },
];

/** What nobody can tell: it keeps to the rules, and was made after the last seal. */
export const AFTER: readonly Edit[] = [
  {
    name: 'an adjustment forged after the last seal, by the rules',
    foundBy: 'unsealed',
    make: forgeAdjustment,
  },
  {
    name: 'the tail after the last seal cut off',
    foundBy: 'neither',
    make: (intruder) => {
      const from = positionOfLast(intruder) + 1;
      forgeAdjustment(intruder);
      dropTail(intruder, from);
    },
  },
];
