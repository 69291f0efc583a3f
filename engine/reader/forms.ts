import type { Asked } from './asked.ts';
import { labelShare } from './places.ts';
import type { Span, SpanKind } from './spans.ts';
import { wordsOf } from './words.ts';
import { once } from '../kernel/once.ts';

const ORG = new RegExp(
  '\\b(?:inc|llc|l\\.l\\.c|ltd|limited|corp|corporation|company|co|gmbh|ag|kg|plc|bank|n\\.a|s\\.a|sarl|sas|bhd|sdn|' +
    'group|trust|association|committee|pac|university|department|agency|service|services|enterprise|trading|' +
    'partners|lp|llp|verein|e\\.v|fund|office|council|party|district|court|institute|school)\\b',
  'i',
);
const TITLE = '(?:(?:mr|mrs|ms|dr|prof|hon)\\.? )?';
const NAME = "\\p{Lu}[\\p{L}'’.-]{1,30}";
const PERSON = new RegExp(
  `^${TITLE}${NAME},?(?: \\p{Lu}\\.?)?(?: ${NAME}){1,2},?(?: (?:Jr|Sr|III|II)\\.?)?$`,
  'iu',
);
const ADDRESS =
  /,|\b\d{4,6}\b|\bst(?:reet|r)?\b|\bave|\broad|\brd\b|jalan|jln|stra(?:ß|ss)e|\brue\b|\bstr\./iu;
const STOP = /\b(?:the|of|and|to|in|der|die|das|und|de|la|les|et|is|are|was|be|shall|will)\b/gi;

/** What a text looks like; shares are 0..1. */
export interface Form {
  readonly words: number;
  readonly characters: number;
  readonly digits: number;
  readonly upper: number;
  readonly capitals: number;
  readonly isUpper: boolean;
  readonly hasComma: boolean;
  readonly hasColon: boolean;
  readonly isOrg: boolean;
  readonly isPerson: boolean;
  readonly isAddress: boolean;
  readonly beginsLow: boolean;
  readonly endsSentence: boolean;
  readonly stops: number;
  readonly isId: boolean;
  /** 2: ends in a colon; 1: could be a label; -1: stands after one; 0: else. */
  readonly labelLike: number;
  readonly labelWords: number;
}

/** The form of a span, found once. */
export const formOf = once(formed);

const LOOKED_AT = 200;

const share = (count: number, all: number): number => (all === 0 ? 0 : count / all);
const countIn = (text: string, shape: RegExp): number => text.match(shape)?.length ?? 0;

function formed(span: Span): Form {
  const text = span.text.slice(0, LOOKED_AT);
  const words = text.split(' ');
  const letters = countIn(text, /\p{L}/gu);
  const upper = countIn(text, /\p{Lu}/gu);
  return {
    words: span.text.length > LOOKED_AT ? span.text.split(' ').length : words.length,
    characters: span.text.length,
    digits: share(countIn(text, /\d/g), text.length),
    upper: share(upper, letters),
    capitals: share(words.filter((word) => /^\p{Lu}/u.test(word)).length, words.length),
    isUpper: letters > 1 && upper === letters,
    hasComma: text.includes(','),
    hasColon: text.includes(':'),
    isOrg: ORG.test(text),
    isPerson: PERSON.test(text),
    isAddress: /\d/.test(text) && /\p{L}{3}/u.test(text) && ADDRESS.test(text),
    beginsLow: /^\p{Ll}/u.test(text),
    endsSentence: /[.!?]$/.test(text),
    stops: share(countIn(text, STOP), words.length),
    isId: words.length <= 2 && /\d/.test(text) && /^[\p{L}\d#][\p{L}\d\-/.# ]*$/u.test(text),
    labelLike: labelLikeOf(span),
    labelWords: labelShare(wordsOf(text).slice(0, 10)),
  };
}

function labelLikeOf({ text, place, segment, from }: Span): number {
  if (/[:：]\s*$/.test(text)) return 2;
  if (place.leftColon || isAfterColon(segment.text, from)) return -1;
  return /^\p{L}[\p{L} ./#()-]{1,30}$/u.test(text) ? 1 : 0;
}

/** Whether a value stands right after a colon. */
export const isAfterColon = (text: string, from: number): boolean =>
  from > 0 && /[:：#]\s*$/.test(text.slice(Math.max(0, from - 3), from));

const named = (form: Form): number => (form.capitals === 1 && form.words <= 4 && form.digits === 0 ? 1 : 0);

/** How well a kind or a form answers what a field wants: the wanted, then the value of having it and of not. */
const ANSWERS: readonly (readonly [keyof Asked['wants'], (kind: SpanKind | undefined, form: Form) => number])[] = [
  ['email', (kind) => (kind === 'email' ? 2 : -1)],
  ['phone', (kind) => (kind === 'phone' ? 1.5 : -1)],
  ['url', (kind) => (kind === 'url' ? 1.5 : -1)],
  ['currency', (kind) => (kind === 'currency' ? 1 : -1)],
  ['duration', (kind) => (kind === 'duration' ? 1 : -0.5)],
  ['time', (kind) => (kind === 'time' ? 1 : -0.5)],
  ['id', (kind, form) => (kind === 'id' || form.isId ? 1 : -0.5)],
  ['person', (_, form) => (form.isPerson ? 1 : named(form) * 0.8 - 0.3)],
  ['org', (_, form) => (form.isOrg ? 1 : form.capitals >= 0.7 && form.digits < 0.2 ? 0.5 : -0.2)],
  ['address', (_, form) => (form.isAddress ? 1 : -0.5)],
  ['place', (_, form) => named(form) * 0.7],
  ['long', (_, form) => (form.words > 8 ? 1 : 0)],
  ['title', (_, form) => (form.words >= 2 && form.capitals > 0.4 ? 0.6 : 0)],
]; // prettier-ignore

/** How well the forms of spans fit what a field wants: -1..2; 0 where the field wants no form. */
export function fitFor({ form: wanted, wants }: Asked): (span: Span) => number {
  const fits = ANSWERS.filter(([want]) => wants[want] > 0);
  if (wanted !== 'string' || fits.length === 0) return () => (wanted === 'string' ? 0 : 1);
  return (span) =>
    fits.reduce((most, [want, fit]) => Math.max(most, wants[want] * fit(span.kind, formOf(span))), -1);
}
