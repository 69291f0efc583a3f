import { classes } from '../classes.ts';

const grouped = (digits: number): Intl.NumberFormat =>
  new Intl.NumberFormat('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** Groups the digits of a decimal text without going through a float: what the books say is what is shown. */
export const groupedText = (text: string): string => {
  const [, sign = '', whole = '', rest = ''] = /^([-+]?)(\d+)(.*)$/.exec(text) ?? [];
  if (whole === '') return text;
  return `${sign === '-' ? '−' : ''}${BigInt(whole).toLocaleString('en')}${rest}`;
};

/** Credits or any count: grouped, aligned. */
export function Credits({ value, unit }: { value: number | string; unit?: string }) {
  const text = typeof value === 'string' ? groupedText(value) : value.toLocaleString('en').replace('-', '−');
  return (
    <span className="whitespace-nowrap">
      {text}
      {unit !== undefined && <span className="text-soft"> {unit}</span>}
    </span>
  );
}

interface MoneyProps {
  /** A decimal as the API gives it, such as "12.50"; it is not rounded. */
  readonly amount: string | number;
  readonly currency: string;
  /** Negative amounts stand out. */
  readonly isMarked?: boolean;
}

/** An amount with its currency. */
export function Money({ amount, currency, isMarked }: MoneyProps) {
  const text = typeof amount === 'number' ? grouped(2).format(amount).replace('-', '−') : groupedText(amount);
  const isNegative = text.startsWith('−');
  return (
    <span className={classes('whitespace-nowrap', isMarked === true && isNegative && 'text-bad')}>
      {text} <span className="text-soft">{currency}</span>
    </span>
  );
}
