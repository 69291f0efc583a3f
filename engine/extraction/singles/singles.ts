import type { Word } from '../../document/document.ts';
import { MIN_CONFIDENCE } from '../confidenceFloor.ts';
import { readings } from '../fields/coerced.ts';
import { isUnlike } from '../fields/examples.ts';
import type { Field } from '../fields/fields.ts';
import type { Finding, Signed } from '../finding.ts';
import type { Pace } from '../pace.ts';
import { wordsIn } from '../places/layout.ts';
import type { Source } from '../source.ts';
import { calibratedSingle, type Way } from './calibration.ts';
import type { Offer } from './values.ts';
import { offersFor } from './offers.ts';
import { shapeOf, type Shape } from './shapes.ts';
import { isNoValue } from './vetoes.ts';
import { bestPairs } from '../../kernel/assignment.ts';
import { groupedBy } from '../../kernel/lists.ts';
import { remembered } from '../../kernel/once.ts';

/** What the rules of a concept say of a field. */
export type ByRules = (field: Field) => Signed | undefined;

/** A finding with who found it, and how sure that was before it was calibrated. */
export interface Rated extends Signed, Omit<Way, 'kind'> {
  readonly raw: number;
  readonly isDoubtful?: boolean;
}

/**
 * The values of a schema's single fields: what labels and sentences offer by the schema's own words, beside
 * what the rules of known concepts find; the surer of both. No words are a
 * value twice; but a currency stands in its amount, and rules of known concepts know what they share.
 */
export function singlesOf(
  fields: readonly Field[],
  { source, byRules, pace }: Pick<SinglesRules, 'source' | 'byRules'> & { readonly pace: Pace },
): ReadonlyMap<string, Rated> {
  const asked = { source, byRules, isKnown: isTrade(fields) };
  const contenders = fields.map((field) => ({
    field,
    findings: pace.leavesOut(field.pointer) ? [] : contendingAs(field, asked),
  }));
  const numbers = new Map<Word, number>();
  const numberOf = (word: Word): number => remembered(numbers, word, () => numbers.size);
  const placeOf = ({ pointer }: Field, { origin, isKnown: known, value, words: [first] }: Rated): string =>
    first === undefined || (known && origin !== 'labels')
      ? pointer
      : `${numberOf(first)} ${JSON.stringify(value)}`;
  const choice = chosen(contenders, placeOf);
  noteChoice(contenders, { choice, placeOf, why: source.why });
  return choice;
}

interface Chosen {
  readonly choice: ReadonlyMap<string, Rated>;
  readonly placeOf: (field: Field, finding: Rated) => string;
  readonly why: Source['why'];
}

/** Tells what became of each finding: chosen, kept out by another field, or not as sure as another. */
function noteChoice(contenders: readonly Contender<Rated>[], { choice, placeOf, why }: Chosen): void {
  if (why === undefined) return;
  const owners = new Map(
    contenders.flatMap(({ field }): readonly (readonly [string, string])[] => {
      const one = choice.get(field.pointer);
      return one === undefined ? [] : [[placeOf(field, one), field.pointer]];
    }),
  );
  for (const { field, findings } of contenders) {
    why.ask(field.pointer);
    const best = choice.get(field.pointer);
    for (const finding of findings) {
      const owner = owners.get(placeOf(field, finding)) ?? field.pointer;
      const lost =
        owner === field.pointer
          ? ({ outcome: 'lower' } as const)
          : ({ outcome: 'taken', other: owner } as const);
      why.offer(field.pointer, finding, {
        score: finding.raw,
        ...(finding === best ? { outcome: 'won' } : lost),
      });
    }
  }
}

interface SinglesRules {
  readonly source: Source;
  readonly byRules: ByRules;
  readonly isKnown: boolean;
}

/** Of the fields so many have a concept. */
const KNOWN_SHARE = 0.5;
const TOTALS = new Set(['grand_total', 'net_total', 'tax_total', 'amount_due']);
/** What else invoices, receipts and orders have, and few others. */
const TRADED = new Set([
  'invoice_number',
  'invoice_date',
  'due_date',
  'vat_id',
  'seller',
  'buyer',
  'order_number',
]);

/** What letters between firms have besides. */
const PARTIES = new Set(
  'address street house_number city postal_code region country company_name currency iban bic'.split(' '),
);

/** A schema that asks for a total and its like, or for nothing else, asks for what the concepts were made for. */
export function isTrade(fields: readonly Field[]): boolean {
  const ids = fields.flatMap(({ concept }) => concept?.id ?? []);
  const isOfMoney = ids.some((id) => TOTALS.has(id)) && ids.some((id) => TRADED.has(id));
  const isOnlyTrade = ids.every((id) => TOTALS.has(id) || TRADED.has(id) || PARTIES.has(id));
  return ids.length >= (isOfMoney ? KNOWN_SHARE : 1) * fields.length && (isOfMoney || isOnlyTrade);
}

/** The findings by the first of a field's types that one is sure of; else those of them all. */
function contendingAs(field: Field, asked: SinglesRules): readonly Rated[] {
  const all: (readonly Rated[])[] = [];
  for (const one of readings(field)) {
    const found = contending(one, asked);
    if (found.some(({ confidence }) => confidence >= MIN_CONFIDENCE)) return found;
    all.push(found);
  }
  return all.flat();
}

/** All findings for a field, each with its confidence. */
function contending(field: Field, { source, byRules, isKnown }: SinglesRules): readonly Rated[] {
  const offers = offersFor(field, source).map((offer) => offered(field, offer, isKnown));
  const ticked = offers.filter(({ kind, raw }) => kind === 'box' && raw >= TICKED);
  if (ticked.length > 0) {
    noteTicked(field, offers, source);
    return ticked;
  }
  const rule = ruleFor(field, byRules, source);
  if (rule === undefined) return offers;
  noteAgreeing(field, { rule, offers }, source);
  const byRule = rated(rule, { origin: 'rules', isFree: false, isKnown }, rule.confidence);
  const isDoubted = (!isKnown && isNamedElsewhere(rule, offers)) || isUnlike(rule.value, field.examples);
  return besides(isDoubted ? doubted(byRule) : byRule, offers);
}

/** A label says the field's own name so well. */
const OWN_NAME = 0.97;

/** A sum whose value no label gives the field, where a label gives it another. */
function isNamedElsewhere({ by, value }: Signed, offers: readonly Rated[]): boolean {
  const named = by === 'sums' ? offers.filter(({ raw }) => raw >= OWN_NAME) : [];
  return named.length > 0 && !named.some((one) => isSame(one.value, value));
}

/** What the rules say of a field, if it could be a value. */
function ruleFor(field: Field, byRules: ByRules, source: Source): Signed | undefined {
  const rule = byRules(field);
  if (rule === undefined || !isNoValue(field, rule, source)) return rule;
  source.why?.offer(field.pointer, rule, { outcome: 'no_value' });
  return undefined;
}

/** Tells the offers that a ticked box silenced. */
function noteTicked({ pointer }: Field, offers: readonly Rated[], { why }: Source): void {
  if (why === undefined) return;
  for (const one of offers)
    if (one.kind !== 'box') why.offer(pointer, one, { outcome: 'ticked', score: one.raw });
}

interface Agreeing {
  readonly rule: Signed;
  readonly offers: readonly Rated[];
}

/** Tells the offer that is one finding with the rule's, as `besides` makes it. */
function noteAgreeing({ pointer }: Field, { rule, offers }: Agreeing, { why }: Source): void {
  const same = why && offers.find(({ value }) => isSame(value, rule.value));
  if (same !== undefined) why?.offer(pointer, same, { outcome: 'same', score: same.raw });
}

/** What the rules found beside what labels offer; the same value of both is one finding. */
function besides(rule: Rated, offers: readonly Rated[]): readonly Rated[] {
  const { isKnown } = rule;
  const agreeing = offers.find(({ value }) => isSame(value, rule.value));
  if (agreeing === undefined) return [rule, ...offers];
  const way = { origin: 'both', isFree: agreeing.isFree, isKnown } as const;
  const both = rated({ ...rule, kind: agreeing.kind }, way, isKnown ? rule.raw : agreeing.raw);
  const others = offers.filter((one) => one !== agreeing);
  if (rule.isDoubtful === true) return [rule, ...others];
  if (agreeing.isDoubtful === true && !isKnown) return [doubted(both), ...others];
  return [both.confidence < rule.confidence ? rule : both, ...others];
}

/** A box that says so surely what it is for is asked alone. */
const TICKED = 0.95;

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function rated(finding: Signed, way: Omit<Way, 'kind'>, raw: number): Rated {
  const share = calibratedSingle({ ...way, kind: finding.kind ?? 'form' }, raw);
  const read = way.origin === 'labels' || !way.isKnown ? readingOf(finding) : 1;
  return { ...finding, ...way, raw, confidence: Math.round(1000 * read * share) / 1000 };
}

/** How surely the least sure of its words was recognised. */
const readingOf = ({ words }: Finding): number =>
  words.reduce((least, { confidence }) => Math.min(least, confidence), 1);

function offered(field: Field, offer: Offer, isKnown: boolean): Rated {
  const { segment, from, to, more = [], value, text, kind, score, isDoubtful, isTitled, by } = offer;
  const words = [...wordsIn(segment, from, to), ...more.flatMap((line) => line.words)];
  const finding = { value, text, page: segment.page, words, confidence: 0, kind, by };
  const isPassedOver = isKnown && isTitled !== true;
  const way = { origin: 'labels', isFree: FREE.has(shapeOf(field)), isKnown: isPassedOver } as const;
  const one = rated(finding, way, score);
  return isDoubtful || isUnlike(value, field.examples) ? doubted(one) : one;
}

/** Of two values that the same words name one is right at best. */
const DOUBTFUL = 0.6;

const doubted = (one: Rated): Rated => ({ ...one, isDoubtful: true, confidence: DOUBTFUL * one.confidence });

/** Shapes that nearly any text has. */
const FREE: ReadonlySet<Shape> = new Set<Shape>(['text', 'name']);

/** A field with all findings that may be its value. */
interface Contender<F extends Finding> {
  readonly field: Field;
  readonly findings: readonly F[];
}

/** A finding for a field, and the place that it would take: no other field has one at the same place. */
interface Wish<F extends Finding> {
  readonly field: Field;
  readonly finding: F;
  readonly place: string;
}

/** More fields than this that want the same places are served the surest first. */
const TOGETHER_MAX = 40;

/**
 * The best finding for each field, so that no two fields take the same place: of fields that compete, the
 * assignment with the highest sum of confidence.
 */
function chosen<F extends Finding>(
  contenders: readonly Contender<F>[],
  placeOf: (field: Field, finding: F) => string,
): ReadonlyMap<string, F> {
  const wishes = contenders.map(({ field, findings }) =>
    bestByPlace(findings.map((finding) => ({ field, finding, place: placeOf(field, finding) }))),
  );
  const served = groupsOf(wishes).flatMap((group) =>
    group.length > TOGETHER_MAX ? inTurn(group.flat()) : together(group),
  );
  return new Map(served.map(({ field, finding }) => [field.pointer, finding]));
}

/** Of the findings at one place the surest. */
function bestByPlace<F extends Finding>(wishes: readonly Wish<F>[]): readonly Wish<F>[] {
  const best = new Map<string, Wish<F>>();
  for (const wish of wishes) {
    const known = best.get(wish.place);
    if (known === undefined || known.finding.confidence < wish.finding.confidence) best.set(wish.place, wish);
  }
  return [...best.values()];
}

/** What is too unsure to be told takes no place from what is told. */
const UNTOLD_SHARE = 0.01;
const worthOf = (finding: Finding | undefined): number => {
  const { confidence } = finding ?? { confidence: 0 };
  return confidence < MIN_CONFIDENCE ? UNTOLD_SHARE * confidence : confidence;
};

/** Each member of the group has the wishes of one field. */
function together<F extends Finding>(group: readonly (readonly Wish<F>[])[]): readonly Wish<F>[] {
  const places = [...new Set(group.flatMap((wishes) => wishes.map(({ place }) => place)))];
  const byPlace = group.map((wishes) => new Map(wishes.map((wish) => [wish.place, wish])));
  const weights = byPlace.map((own) => places.map((place) => worthOf(own.get(place)?.finding)));
  return bestPairs(weights).flatMap(([row, column]) => byPlace[row]?.get(places[column] ?? '') ?? []);
}

function inTurn<F extends Finding>(wishes: readonly Wish<F>[]): readonly Wish<F>[] {
  const [taken, served] = [new Set<string>(), new Map<Field, Wish<F>>()];
  for (const wish of [...wishes].sort((a, b) => b.finding.confidence - a.finding.confidence)) {
    if (served.has(wish.field) || taken.has(wish.place)) continue;
    served.set(wish.field, wish);
    taken.add(wish.place);
  }
  return [...served.values()];
}

/** The wishes of fields that some place connects, directly or through others. */
function groupsOf<F extends Finding>(
  all: readonly (readonly Wish<F>[])[],
): readonly (readonly (readonly Wish<F>[])[])[] {
  const leaders = all.map((_, i) => i);
  const leaderOf = (i: number): number => {
    let at = i;
    while (leaders[at] !== at) at = leaders[at] ?? at;
    return at;
  };
  const byPlace = new Map<string, number>();
  for (const [i, wishes] of all.entries())
    for (const { place } of wishes) {
      const other = byPlace.get(place);
      if (other === undefined) byPlace.set(place, i);
      else leaders[leaderOf(i)] = leaderOf(other);
    }
  const groups = groupedBy(all.entries(), ([i]) => leaderOf(i));
  return [...groups.values()].map((group) => group.map(([, wishes]) => wishes));
}
