import { z } from 'zod';

const whole = z.string().regex(/^\d+$/).transform(Number);
const flag = z.enum(['true', 'false']);

/** What a page may be asked for; anything else is refused, as Stripe does. */
export const sessionRequest = z.strictObject({
  mode: z.literal('payment'),
  line_items: z
    .array(
      z.strictObject({
        quantity: z.literal('1'),
        price_data: z.strictObject({
          currency: z.string().regex(/^[a-z]{3}$/),
          unit_amount: whole,
          tax_behavior: z.enum(['inclusive', 'exclusive']),
          product_data: z.strictObject({
            name: z.string().min(1),
            description: z.string().min(1).optional(),
          }),
        }),
      }),
    )
    .length(1),
  success_url: z.url(),
  cancel_url: z.url(),
  metadata: z.record(z.string().max(40), z.string().max(500)),
  customer: z.string().startsWith('cus_').optional(),
  customer_creation: z.literal('always').optional(),
  discounts: z.array(z.strictObject({ coupon: z.string() })).optional(),
  payment_intent_data: z.strictObject({ setup_future_usage: z.literal('off_session') }).optional(),
  automatic_tax: z.strictObject({ enabled: flag }).optional(),
  adaptive_pricing: z.strictObject({ enabled: flag }),
  expires_at: whole,
});

/** What a charge without a page may be asked for. */
export const intentRequest = z.strictObject({
  amount: whole,
  currency: z.string().regex(/^[a-z]{3}$/),
  customer: z.string().startsWith('cus_'),
  payment_method: z.string().startsWith('pm_').optional(),
  confirm: z.literal('true'),
  off_session: z.literal('true'),
  description: z.string().optional(),
  metadata: z.record(z.string().max(40), z.string().max(500)),
});

/** What Stripe refuses. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  /** The parameter that is refused, where Stripe names it. */
  param?: string;
  /** What was declined. */
  payment_intent?: object;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The body as the schema has it. Throws Refusal. */
export const parsed = <Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> => {
  const { data, error } = schema.safeParse(body);
  if (data === undefined) throw new Refusal(400, 'parameter_unknown', z.prettifyError(error!));
  return data;
};

/** What Stripe takes off for a coupon, percent. */
const COUPONS: Readonly<Record<string, number>> = { TENTH: 10, GIFT: 100 };
/** VAT of pages with automatic tax, percent. */
const TAX = 19;

/** What a coupon takes off a price. */
const discountOf = (price: number, coupon: string | undefined): number => {
  if (coupon === undefined) return 0;
  const percent = COUPONS[coupon];
  if (percent === undefined) throw new Refusal(400, 'resource_missing', `No such coupon: '${coupon}'`);
  return Math.round((price * percent) / 100);
};

/** What a page asks for: its discount, and its tax on top or within. */
export const moneyOf = (asked: z.output<typeof sessionRequest>) => {
  const { unit_amount: price, tax_behavior } = asked.line_items[0]!.price_data;
  const amount_discount = discountOf(price, asked.discounts?.[0]?.coupon);
  const left = price - amount_discount;
  const isWithin = tax_behavior === 'inclusive';
  const tax = isWithin ? Math.round(left - left / (1 + TAX / 100)) : Math.round((left * TAX) / 100);
  const amount_tax = asked.automatic_tax?.enabled === 'true' ? tax : 0;
  return { amount_total: left + (isWithin ? 0 : amount_tax), total_details: { amount_discount, amount_tax } };
};
