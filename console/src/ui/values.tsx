import { Check, Copy as CopyIcon } from './icons/icons.tsx';
import { useState } from 'react';
import { shell } from '../texts/shell.ts';
import { Button } from './button.tsx';
import { shortText } from './decimal.ts';
import { classes } from './style.ts';
import { timeIn, useZone } from './zone.ts';

/** Puts a text on the clipboard. */
export function Copy({ text, name = shell.copy }: { text: string; name?: string }) {
  const [isDone, mark] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    mark(true);
    setTimeout(() => mark(false), 1_500);
  };
  return (
    <Button
      look="quiet"
      size="small"
      className="h-5 px-1"
      aria-label={isDone ? shell.copied : name}
      onClick={() => void copy()}
    >
      {isDone ? <Check aria-hidden className="size-3.5" /> : <CopyIcon aria-hidden className="size-3.5" />}
    </Button>
  );
}

const grouped = (digits: number): Intl.NumberFormat =>
  new Intl.NumberFormat('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** Groups the digits of a decimal text without going through a float: what the books say is what is shown. */
export const groupedText = (text: string): string => {
  const [, less = '', sign = '', whole = '', rest = ''] = /^([<>]?)([-+]?)(\d+)(.*)$/.exec(text) ?? [];
  if (whole === '') return text;
  return `${less}${sign === '-' ? '−' : ''}${BigInt(whole).toLocaleString('en')}${rest}`;
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
  /** In a heading: with the digits of the currency, and exact on hover. Tables and files have the exact figure. */
  readonly isShort?: boolean;
}

/** An amount with its currency. */
export function Money({ amount, currency, isMarked, isShort }: MoneyProps) {
  const exact =
    typeof amount === 'number' ? grouped(2).format(amount).replace('-', '−') : groupedText(amount);
  const text = isShort === true ? groupedText(shortText(String(amount), currency)) : exact;
  const isNegative = exact.startsWith('−');
  return (
    <span
      {...(text === exact ? {} : { title: `${exact} ${currency}` })}
      className={classes('whitespace-nowrap', isMarked === true && isNegative && 'text-bad')}
    >
      {text} <span className="text-soft">{currency}</span>
    </span>
  );
}

/** A time in the zone that the reader chose; UTC stands in its title. */
export function Time({ at, isDay = false }: { at: string | null | undefined; isDay?: boolean }) {
  const zone = useZone();
  const time = at === null || at === undefined ? Number.NaN : Date.parse(at);
  if (Number.isNaN(time)) return <span className="text-soft">–</span>;
  return (
    <time dateTime={at ?? ''} title={`${new Date(time).toISOString()} (UTC)`} className="whitespace-nowrap">
      {timeIn(time, zone, isDay)}
    </time>
  );
}
