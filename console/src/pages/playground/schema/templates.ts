import type { SchemaPart } from '../values.ts';

const text = (description?: string): SchemaPart =>
  description === undefined ? { type: 'string' } : { type: 'string', description };
const number = (description?: string): SchemaPart => ({ ...text(description), type: 'number' });
const date = (description?: string): SchemaPart => ({ ...text(description), format: 'date' });
const list = (properties: Readonly<Record<string, SchemaPart>>): SchemaPart => ({
  type: 'array',
  items: { type: 'object', properties },
});

const TEMPLATES = {
  invoice: {
    invoice_number: text(),
    invoice_date: date(),
    due_date: date(),
    seller_name: text(),
    buyer_name: text(),
    iban: text(),
    currency: text('ISO 4217 code'),
    net_total: number('Total without VAT'),
    tax_total: number('Total VAT'),
    grand_total: number('Grand total including VAT'),
    line_items: list({ description: text(), quantity: number(), unit_price: number(), amount: number() }),
  },
  receipt: {
    merchant_name: text(),
    receipt_date: date(),
    payment_method: text(),
    currency: text('ISO 4217 code'),
    tax_total: number(),
    total: number(),
    line_items: list({ description: text(), quantity: number(), amount: number() }),
  },
  statement: {
    bank_name: text(),
    account_holder: text(),
    iban: text(),
    statement_date: date(),
    opening_balance: number(),
    closing_balance: number(),
    transactions: list({ date: date(), description: text(), amount: number() }),
  },
  contract: {
    title: text(),
    parties: { type: 'array', items: text() },
    effective_date: date(),
    end_date: date(),
    notice_period: text(),
    governing_law: text(),
  },
  cv: {
    name: text(),
    email: text(),
    phone: text(),
    experience: list({ employer: text(), position: text(), from: text(), to: text() }),
    education: list({ school: text(), degree: text(), year: text() }),
  },
  form: { name: text(), date_of_birth: date(), address: text(), email: text(), phone: text() },
} as const satisfies Readonly<Record<string, Readonly<Record<string, SchemaPart>>>>;

export type TemplateName = keyof typeof TEMPLATES;

export const TEMPLATE_NAMES = Object.keys(TEMPLATES) as readonly TemplateName[];

/** The JSON Schema of a template, as text that can be changed. */
export const templateText = (name: TemplateName): string =>
  JSON.stringify({ type: 'object', properties: TEMPLATES[name] }, undefined, 2);
