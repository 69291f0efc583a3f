import { once } from '../kernel/once.ts';
import type { Json } from '../kernel/json.ts';
import { voteDayFirst, compactDatesIn, datesIn } from './values/dates.ts';
import {
  bicsIn,
  emailsIn,
  ibansIn,
  idsIn,
  phonesIn,
  urlsIn,
  vatIdsIn,
  type Found,
} from './values/identifiers.ts';
import type { Layout, Segment } from './places/layout.ts';
import type { ValueKind } from './words/concepts.ts';
import {
  currenciesIn,
  numbersIn,
  readNumber,
  voteDebit,
  voteDecimalMark,
  type DecimalMark,
} from './values/numbers.ts';
import { groupedBy } from '../kernel/lists.ts';

/** A value that stands in the document, typed. Nothing else can become a result. */
export interface Candidate {
  readonly kind: ValueKind;
  readonly value: Json;
  readonly text: string;
  readonly segment: Segment;
  /** Range in the segment's text. */
  readonly from: number;
  readonly to: number;
  /** 0..1: how sure its form alone makes the kind. */
  readonly strictness: number;
  readonly currency?: string | undefined;
}

/** How this document writes numbers and dates. */
export interface Conventions {
  readonly decimalMark: DecimalMark;
  readonly dayFirst: boolean;
  /** The letters that stand behind amounts that are debits. */
  readonly debit?: string | undefined;
}

export function conventionsOf({ segments }: Layout): Conventions {
  const texts = segments.map(({ text }) => text);
  return { decimalMark: voteDecimalMark(texts), dayFirst: voteDayFirst(texts), debit: voteDebit(texts) };
}

/** All typed values of a document, by kind, in reading order. */
export function candidatesOf(
  layout: Layout,
  conventions: Conventions,
): ReadonlyMap<ValueKind, readonly Candidate[]> {
  const all = layout.segments.flatMap((segment) => inSegment(segment, conventions));
  return groupedBy(all, ({ kind }) => kind);
}

/** The values of one segment, read once. A part of a date is no number, a part of an IBAN no telephone. */
export const inSegment = (segment: Segment, conventions: Conventions): readonly Candidate[] =>
  readBy(conventions)(segment);

const readBy = once((conventions: Conventions) => once((segment: Segment) => readIn(segment, conventions)));

function readIn(segment: Segment, conventions: Conventions): readonly Candidate[] {
  const { text } = segment;
  const ibans = ibansIn(text);
  const vatIds = vatIdsIn(text);
  const emails = emailsIn(text);
  const urls = urlsIn(text);
  const dates = datesIn(text, conventions.dayFirst);
  const taken = [...ibans, ...vatIds, ...emails, ...urls, ...dates];
  const free = ({ from, to }: { readonly from: number; readonly to: number }): boolean =>
    !taken.some((other) => from < other.to && other.from < to);
  const of =
    (kind: ValueKind, strictness: number) =>
    (found: Found): Candidate => ({ kind, segment, strictness, ...found });
  return [
    ...ibans.map(({ valid, ...found }) => of('iban', valid ? 1 : 0.6)(found)),
    ...vatIds.map(of('vat_id', 0.9)),
    ...emails.map(of('email', 1)),
    ...urls.map(of('url', 1)),
    ...dates.map((date) => of('date', 1)({ ...date, value: date.iso })),
    ...compactDatesIn(text).map((date) => of('date', 0.5)({ ...date, value: date.iso })),
    ...bicsIn(text).filter(free).map(of('bic', 0.7)),
    ...phonesIn(text).filter(free).map(of('phone', 0.6)),
    ...currenciesIn(text).map(({ code, ...found }) => of('currency', 0.9)({ ...found, value: code })),
    ...numbers(segment, conventions).filter(free),
    ...idsIn(text).filter(free).map(of('id', 0.8)),
  ];
}

function numbers(segment: Segment, { decimalMark, debit }: Conventions): readonly Candidate[] {
  return numbersIn(segment.text).flatMap(({ percent, currency, ...found }) => {
    const size = readNumber(found.text, decimalMark);
    if (size === undefined) return [];
    const isDebit = debit !== undefined && isMarked(segment.text.slice(found.to), debit);
    const value = isDebit && typeof size === 'number' && size > 0 ? -size : size;
    const decimals = /[.,]\d{2}\D*$/.test(found.text);
    const strictness = currency !== undefined || decimals ? 1 : 0.75;
    const kind = percent ? ('percent' as const) : ('number' as const);
    return [{ kind, value, segment, strictness, currency, ...found }];
  });
}

const isMarked = (after: string, letters: string): boolean =>
  after.trimStart().startsWith(letters) && !/^[\p{L}\p{N}]/u.test(after.trimStart().slice(letters.length));
