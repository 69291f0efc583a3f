import type { Clock } from '../../../domain/ports/log.ts';
import { z } from 'zod';
import {
  billingType,
  completionWindow,
  extractionMode,
  taxBasis,
  ratedOperation,
} from '../../../domain/account/messages.ts';
import { messageOf } from '../../../domain/kernel/json.ts';
import {
  booleanText,
  creditsOut,
  decimalOut,
  instantOut,
  knownCurrencyIn,
  plainText,
  tenantIdText,
} from '../schemas/basics.ts';
import { type Route, routesOver } from '../../server/routes.ts';
import { priceListOf, type ReferenceData } from '../../commands/reference.ts';
import { importFxDays, type RateConflict } from '../../commands/importRates.ts';
import type { correctRates as correct } from '../../commands/saleRates.ts';
import type { ReadYourWrites } from '../../queries/queries.ts';
import { type FxDay, fxRateOn, type FxRatesState, oddRate } from '../../../domain/fxRates.ts';
import { invalid, problem } from '../../server/problems.ts';
import { minorUnitDigits } from '../../../domain/kernel/amounts.ts';
import { checkNotAhead } from '../schemas/rejections.ts';

/** What these routes need. */
export interface PricesDeps {
  readonly reference: ReferenceData;
  readonly clock: Clock;
  readonly reads: ReadYourWrites;
  /** Books rates of sales without one that are known by now. */
  readonly priceSales: () => Promise<number>;
  readonly correctRates: ReturnType<typeof correct>;
  /** Days of a reference-rate file of the ECB. Throws with a sentence where it is none. */
  readonly readRates: (path: string) => Promise<readonly FxDay[]>;
}

const { get, post } = routesOver<PricesDeps>();

const price = z
  .string()
  .regex(/^\d{1,12}(\.\d{1,6})?$/, 'A decimal with up to 6 decimals.')
  .refine((text) => /[1-9]/.test(text), { error: 'Must be above 0.' })
  .meta({ description: 'Price of 1,000 credits in major units, decimal text.' });

const publishPriceListRequest = z
  .strictObject({
    entries: z
      .array(
        z.strictObject({
          currency: knownCurrencyIn,
          price_per_1000_credits: price,
          tax_basis: taxBasis.default('exclusive'),
        }),
      )
      .min(1)
      .max(200)
      .refine((entries) => new Set(entries.map(({ currency }) => currency)).size === entries.length, {
        error: 'Each currency once.',
      })
      .meta({ description: 'The complete set: a currency that is left out is retired.' }),
    expected_version: z.int().min(0).nullish(),
    note: plainText(1, 1000).nullish(),
  })
  .meta({ id: 'PublishPriceListRequest' });

const priceListResponse = z
  .strictObject({
    version: z.int(),
    entries: z.array(
      z.strictObject({
        currency: z.string(),
        price_per_1000_credits: decimalOut,
        tax_basis: taxBasis,
        minor_unit_digits: z.int(),
      }),
    ),
    published_at: instantOut,
    published_by: z.string(),
    note: z.string().nullable(),
  })
  .meta({ id: 'CreditPriceListResponse' });

const creditsFromZeroIn = z.int().min(0);

export const upsertRateRequest = z
  .strictObject({
    operation: ratedOperation,
    extraction_mode: z.enum(['fast', 'standard', 'balanced', 'robust', 'default']),
    billing_type: billingType,
    completion_window: completionWindow.nullish(),
    credits_per_page: creditsFromZeroIn,
  })
  .meta({ id: 'UpsertRateRequest' });

export const billingRateItem = z
  .strictObject({
    operation: ratedOperation,
    extraction_mode: extractionMode,
    billing_type: billingType,
    completion_window: completionWindow.nullable(),
    credits_per_page: creditsOut,
    billing_config_version: z.int(),
    effective_at: instantOut,
  })
  .meta({ id: 'BillingRateItem' });

export const billingRatesResponse = z
  .strictObject({ version: z.int(), items: z.array(billingRateItem) })
  .meta({ id: 'BillingRatesResponse' });

export const billingConfigCreateRequest = z
  .strictObject({
    free_pages: z.int().min(0).optional(),
    examples_export_fee_credits: creditsFromZeroIn.optional(),
    training: z
      .strictObject({
        base_credits: z
          .strictObject({
            light: creditsFromZeroIn.optional(),
            medium: creditsFromZeroIn.optional(),
            heavy: creditsFromZeroIn.optional(),
          })
          .optional(),
        credits_per_example: creditsFromZeroIn.optional(),
        credits_per_metric_call: creditsFromZeroIn.optional(),
      })
      .optional(),
    hold_ttl_seconds: z.int().min(60).max(86_400).optional(),
    note: plainText(1, 1000).nullish(),
  })
  .meta({ id: 'BillingConfigCreateRequest', description: 'Members that are left out keep their value.' });

export const billingConfigResponse = z
  .strictObject({
    version: z.int(),
    free_pages: z.int(),
    examples_export_fee_credits: creditsOut,
    training: z.strictObject({
      base_credits: z.strictObject({ light: creditsOut, medium: creditsOut, heavy: creditsOut }),
      credits_per_example: creditsOut,
      credits_per_metric_call: creditsOut,
    }),
    hold_ttl_seconds: z.int(),
    note: z.string().nullable(),
    rates: z.array(billingRateItem),
    created_at: instantOut,
    created_by: z.string(),
  })
  .meta({ id: 'BillingConfigResponse' });

export const billingConfigHistory = z
  .strictObject({ active: billingConfigResponse, history: z.array(billingConfigResponse) })
  .meta({ id: 'AdminBillingConfigHistoryResponse' });

export const getCreditPrices = get(
  '/v1/billing/credit-prices',
  {
    summary: 'The active price list of credits',
    description:
      'The price of a credit in each currency. Sales are checked against this list, which has a version.',
    access: 'any_or_seller',
    reply: { status: 200, schema: priceListResponse },
  },
  async (_request, { reference }) => priceListOf(await reference.priceLists()),
);

export const getAdminCreditPrices: Route<PricesDeps> = {
  ...getCreditPrices,
  path: '/v1/admin/credit-prices',
  access: 'admin',
};

const rate = z
  .string()
  .regex(/^\d{1,18}(\.\d{1,18})?$/, 'A decimal as text, with a point.')
  .refine((text) => /[1-9]/.test(text), { error: 'Must be above 0.' })
  .meta({ description: 'Units of the currency for 1 `base`, decimal text.' });

/** More than there are currencies. */
const RATES_MAX = 400;

/** Looked at before each is: a body may have fifty thousand members. */
const fewRates = (value: unknown, { issues }: z.core.ParsePayload): unknown => {
  if (typeof value !== 'object' || value === null || Object.keys(value).length <= RATES_MAX) return value;
  const message = `At most ${String(RATES_MAX)} rates.`;
  issues.push({ code: 'custom', message, input: value, continue: false });
  return z.NEVER;
};

const EARLIEST_DAY = '1999-01-01';

const publishFxRatesRequest = z
  .strictObject({
    date: z.iso
      .date()
      .refine((date) => date >= EARLIEST_DAY, { error: 'Lies before 1999-01-01.' })
      .meta({ description: 'From 1999-01-01, when the euro began, to one day ahead.' }),
    base: knownCurrencyIn.default('EUR'),
    rates: z.preprocess(
      fewRates,
      z
        .record(knownCurrencyIn, rate)
        .refine((rates) => Object.keys(rates).length > 0, { error: 'At least one rate.' }),
    ),
    source: plainText(1, 100).default('admin'),
    confirmed: z.boolean().default(false).meta({
      description:
        'Publishes also a rate that is more than 5 times, or less than a fifth of, the last one before.',
    }),
  })
  .refine(({ base, rates }) => !(base in rates), {
    error: 'The base has no rate to itself.',
    path: ['rates'],
  })
  .meta({ id: 'PublishFxRatesRequest' });

const fxRatesResponse = z
  .strictObject({
    date: z.iso.date(),
    base: z.string(),
    rates: z.record(z.string(), decimalOut),
    source: z.string(),
    published: z.boolean().meta({ description: 'False if the same rates were already known.' }),
    published_at: instantOut.nullable(),
  })
  .meta({ id: 'FxRatesResponse' });

const fxRateResponse = z
  .strictObject({
    base: z.string(),
    quote: z.string(),
    rate: decimalOut.meta({ description: 'Units of `quote` for 1 `base`, exact decimal text.' }),
    rate_date: z.iso.date().meta({ description: 'Day of the rate.' }),
    requested_date: z.iso.date(),
    source: z.string(),
  })
  .meta({ id: 'FxRateResponse' });

export const getFxRate = get(
  '/v1/admin/fx-rate',
  {
    summary: 'The exchange rate from one currency to another on a day',
    description:
      'If there is no rate for that day (weekends, holidays, future days), the last known one before it: see ' +
      '`rate_date`. Rates between two currencies other than EUR are computed through EUR.',
    access: 'admin',
    query: z.object({
      base: knownCurrencyIn.default('EUR'),
      quote: knownCurrencyIn.default('USD'),
      on: z.iso.date().optional(),
    }),
    reply: { status: 200, schema: fxRateResponse },
    problems: ['fx_rate_not_found'],
  },
  async ({ query: { base, quote, on } }, { reference, clock }) => {
    const requested_date = on ?? clock.now().slice(0, 10);
    const found = fxRateOn(await reference.fxRates(), { base, quote }, requested_date);
    if (found === undefined)
      throw problem(
        'fx_rate_not_found',
        `No rate from ${base} to ${quote} is known on or before ${requested_date}.`,
      );
    return { base, quote, ...found, requested_date };
  },
);

export const publishCreditPrices = post(
  '/v1/admin/credit-prices',
  {
    summary: 'Publish a price list, all currencies at once',
    description:
      'This makes a new version; earlier ones never change. A currency that is left out is retired.',
    access: 'admin',
    body: publishPriceListRequest,
    reply: { status: 200, schema: priceListResponse },
    problems: ['version_conflict', 'busy'],
  },
  async ({ body, meta, doneOr }, { reference }) => {
    const entries = body.entries.map((entry) => ({
      ...entry,
      minor_unit_digits: minorUnitDigits(entry.currency) ?? 2,
    }));
    const data = { entries, expected_version: body.expected_version ?? null, note: body.note ?? null };
    const outcome = await reference.publishPriceList({ type: 'PublishPriceList', data, meta });
    const { state } = doneOr(outcome, {
      version_conflict: 'Another version was published since the one expected.',
    });
    return priceListOf(state);
  },
);

const checkOdd = (state: FxRatesState, day: FxDay): void => {
  const odd = oddRate(state, day);
  if (odd === undefined) return;
  const { rate: before, rate_date } = odd.known;
  throw invalid({
    loc: ['body', 'rates', odd.quote],
    msg: `Is far from ${before}, the rate of ${rate_date}. Send confirmed: true if it is right.`,
    type: 'value_error',
  });
};

export const publishFxRates = post(
  '/v1/admin/fx-rates',
  {
    summary: "Publish a day's exchange rates",
    description:
      'All rates of the day at once. To correct a day, send the same day and base with other rates; nothing is ' +
      'overwritten, and sales that are booked keep their rate. Sales that had none get theirs.',
    access: 'admin',
    body: publishFxRatesRequest,
    reply: { status: 200, schema: fxRatesResponse },
    problems: ['busy'],
  },
  async ({ body, meta, doneOr }, { reference, reads, priceSales }) => {
    const { confirmed, ...data } = body;
    checkNotAhead(`${data.date}T00:00:00.000Z`, meta.now, 'date');
    if (!confirmed) checkOdd(await reference.fxRates(), data);
    const outcome = await reference.publishFxRates({ type: 'PublishFxRates', data, meta });
    const { events } = doneOr(outcome, {
      fx_rates_conflict: () => {
        throw new Error('a publication corrects what is known');
      },
    });
    // What is not done here, because the read models are behind or the process ends, the sweeper does.
    await reads.settleAll();
    await priceSales();
    const published_at = events[0]?.data.published_at ?? null;
    return { ...data, published: events.length > 0, published_at };
  },
);

const importForm = z
  .strictObject({
    supersede: booleanText.default(false).meta({
      description:
        'Publishes rates that differ from the known ones as corrections, instead of refusing the file.',
    }),
  })
  .meta({ id: 'ImportFxRatesForm' });

const importReport = z
  .strictObject({
    days: z.int().meta({ description: 'Days of the file.' }),
    added: z.int().meta({ description: 'Days that were not known.' }),
    unchanged: z.int().meta({ description: 'Days that were known with the same rates.' }),
    superseded: z.int().meta({ description: 'Days that were known with other rates.' }),
    first: z.iso.date().nullable().meta({ description: 'First day of the file.' }),
    last: z.iso.date().nullable().meta({ description: 'Last day of the file.' }),
  })
  .meta({ id: 'FxImportReport' });

/** Conflicts that an answer names. */
const CONFLICTS_MAX = 20;

const conflictsOf = (conflicts: readonly RateConflict[]) =>
  problem(
    'fx_rates_conflict',
    `${String(conflicts.length)} rates differ from the known ones, and nothing was imported. Send supersede=true if ` +
      'the file is right.',
    { conflicts: conflicts.slice(0, CONFLICTS_MAX) },
  );

export const importFxRates = post(
  '/v1/admin/fx-rates/import',
  {
    summary: "Import a file of the European Central Bank's reference rates",
    description:
      'Does the same as `quire fx import`: the daily file, that of 90 days or the whole history, as XML, as CSV, or ' +
      'as a zip of a CSV. Known days are skipped, so a file can be imported again. Booked sales keep their rate; ' +
      'sales that had none get theirs.',
    access: 'admin',
    bucket: 'heavy',
    body: importForm,
    upload: true,
    reply: { status: 200, schema: importReport },
    problems: ['unreadable_file', 'fx_rates_conflict', 'busy'],
  },
  async ({ body: { supersede }, file, meta }, { reference, reads, readRates, priceSales, clock }) => {
    if (file === undefined) throw new Error('the form has a file: nothing may stand for it');
    const days = await readRates(file.path).catch((error: unknown) => {
      throw problem('unreadable_file', `This is no reference-rate file of the ECB: ${messageOf(error)}.`);
    });
    const wanted = { days, source: 'ecb', supersede };
    const imported = await importFxDays(reference, wanted, () => ({ ...meta, command_id: clock.uuid() }));
    if (imported.kind === 'conflict') throw conflictsOf(imported.conflicts);
    if (imported.kind === 'not_now')
      throw problem('busy', 'The event log did not accept the rates in time. Send the file again.');
    await reads.settleAll();
    await priceSales();
    return imported.report;
  },
);

const fxCorrectionRequest = z
  .strictObject({
    currency: knownCurrencyIn,
    rate_date: z.iso.date().meta({ description: 'Day of the wrong rate, as the sales have it.' }),
    fx_rate_to_usd: rate.nullish().meta({
      description: 'USD for 1 unit of the currency; left out: the rate of that day as it is published now.',
    }),
    tenant_id: tenantIdText.nullish().meta({ description: 'Sales of this tenant only.' }),
    grant_id: plainText(1, 100).nullish().meta({ description: 'This sale only.' }),
    reason: plainText(1, 500),
  })
  .meta({ id: 'FxCorrectionRequest' });

const fxCorrectionResponse = z
  .strictObject({
    currency: z.string(),
    rate_date: z.iso.date().meta({ description: 'Day of the rate that was wrong.' }),
    fx_rate_to_usd: decimalOut,
    reason: z.string(),
    corrected: z
      .array(z.strictObject({ tenant_id: z.string(), grant_id: z.string(), previous_rate: decimalOut }))
      .meta({ description: 'The sales that this very request corrected.' }),
  })
  .meta({ id: 'FxCorrectionResponse' });

export const correctFxRates = post(
  '/v1/admin/fx-corrections',
  {
    summary: 'Correct the rate of sales that are booked',
    description:
      'Each sale in the currency that was booked at a rate of that day gets the right one, by an event: what was ' +
      'recognised at the wrong rate is trued up now, and what was reported before stays. Sales that have the right ' +
      'rate are left alone, so that a repeat does nothing.',
    access: 'admin',
    body: fxCorrectionRequest,
    reply: { status: 200, schema: fxCorrectionResponse },
    problems: ['fx_rate_not_found', 'busy'],
  },
  async ({ body, meta, doneOr }, { correctRates, reads }) => {
    const { currency, rate_date, reason } = body;
    await reads.settleAll();
    const asked = {
      currency,
      rate_date,
      reason,
      fx_rate_to_usd: body.fx_rate_to_usd ?? null,
      tenant_id: body.tenant_id ?? null,
      grant_id: body.grant_id ?? null,
    };
    const { fx_rate_to_usd, corrected } = doneOr(await correctRates(asked, meta), {
      fx_rate_not_found: `No rate of ${rate_date} is published for ${currency}: send it as fx_rate_to_usd.`,
    });
    return { currency, rate_date, fx_rate_to_usd, reason, corrected: [...corrected] };
  },
);
