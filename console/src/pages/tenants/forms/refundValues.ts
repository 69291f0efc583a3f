import { z } from 'zod';
import { tenants as texts } from '../../../texts/tenants.ts';
import { minorOf } from '../../../ui/values/decimal.ts';
import { takenFor, type Left } from './pricing.ts';
import type { RefundableSale } from './refundable.ts';

export const WAYS = ['all', 'money', 'credits', 'moneyAlone', 'both'] as const;
export type Way = (typeof WAYS)[number];

/** Which of the two amounts a way of refunding asks for. */
export const ASKS: Readonly<Record<Way, { readonly money: boolean; readonly credits: boolean }>> = {
  all: { money: false, credits: false },
  money: { money: true, credits: false },
  credits: { money: false, credits: true },
  moneyAlone: { money: true, credits: false },
  both: { money: true, credits: true },
};

const shape = z.object({
  way: z.enum(WAYS),
  amount: z.string(),
  credits: z.string(),
  fee: z.string(),
  provider: z.string().trim().min(1, texts.faults.needed),
  transaction: z.string().trim().min(1, texts.faults.needed),
  reason: z.string(),
});

export type RefundValues = z.infer<typeof shape>;

const moneyOf = (text: string, most: number, currency: string): string | undefined => {
  const minor = minorOf(text === '' ? '0' : text, currency);
  if (minor === undefined) return texts.faults.amount(currency);
  return minor > most ? texts.faults.beyond : undefined;
};

const creditsOf = (text: string, most: number): string | undefined => {
  if (!/^\d{1,15}$/.test(text.trim())) return texts.faults.wholeCredits;
  return Number(text) > most ? texts.faults.beyond : undefined;
};

/** The form's rules for one sale. */
export const schemaOf = ({ sale, left }: RefundableSale) =>
  shape.superRefine(({ way, amount, credits, fee }, context) => {
    const asked = ASKS[way];
    const isNothing = asked.money && (amount === '' || minorOf(amount, sale.currency) === 0);
    const faults = {
      amount: !asked.money
        ? undefined
        : isNothing
          ? texts.faults.amount(sale.currency)
          : moneyOf(amount, left.gross, sale.currency),
      credits: asked.credits ? creditsOf(credits, left.credits) : undefined,
      fee: moneyOf(fee, left.fee, sale.currency),
    };
    for (const [path, message] of Object.entries(faults))
      if (message !== undefined) context.addIssue({ code: 'custom', path: [path], message });
  });

const moneyIn = ({ way = 'all', amount = '' }: Partial<RefundValues>, of: RefundableSale) => {
  if (!ASKS[way].money) return way === 'all' ? of.left.gross : 0;
  const money = minorOf(amount, of.sale.currency);
  return money === 0 ? undefined : money;
};

const creditsIn = ({ way = 'all', credits = '' }: Partial<RefundValues>): number | undefined => {
  if (!ASKS[way].credits) return 0;
  return /^\d{1,15}$/.test(credits.trim()) ? Number(credits) : undefined;
};

/** What the refund takes back and pays; undefined while the form is not filled in. */
export const takenOf = (of: RefundableSale, values: Partial<RefundValues>): Left | undefined => {
  const [money, credits] = [moneyIn(values, of), creditsIn(values)];
  if (money === undefined || credits === undefined) return undefined;
  const taken = takenFor(of, of.sale.vat_amount_minor, money);
  const { way = 'all' } = values;
  if (way === 'all') return { ...taken, credits: of.left.credits };
  return way === 'money' ? taken : { ...taken, credits };
};
