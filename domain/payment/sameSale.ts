/** What a sale is about, whatever else was said of it. */
interface SaleFigures {
  readonly credits: number;
  readonly currency: string;
  readonly gross_amount_minor: number | null;
  readonly vat_amount_minor: number;
  readonly provider_fee_minor: number;
}

const FIGURES = [
  'credits',
  'currency',
  'gross_amount_minor',
  'vat_amount_minor',
  'provider_fee_minor',
] as const satisfies readonly (keyof SaleFigures)[];

/**
 * Whether two sales under one identity are one: the same credits, currency and money. Another note, invoice
 * or time is the same sale told again.
 */
export const isSameSale = (
  one: { readonly [Figure in keyof SaleFigures]?: unknown },
  other: { readonly [Figure in keyof SaleFigures]?: unknown },
): boolean => FIGURES.every((figure) => one[figure] !== undefined && one[figure] === other[figure]);
