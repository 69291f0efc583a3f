import type { LocalCitation } from '../ports/extractionEngine.ts';
import type { FieldWhy, Generator, Outcome, ToldOffer } from '../ports/why.ts';
import { isList, isObject, ownMember, pointedName, type Json, type JsonObject } from '../kernel/json.ts';
import type { Signed } from './finding.ts';

/** An offer as its judge saw it. */
interface Judged {
  readonly outcome: Outcome;
  readonly score?: number | null;
  readonly confidence?: number | null;
  readonly other?: string | undefined;
}

/** Keeps all offers that the judges of an extraction choose from. It is there only where somebody asked why. */
export interface WhyLog {
  /** Names a field that is looked for, whether anything is offered or not. */
  readonly ask: (path: string) => void;
  /** Tells an offer; that of the outcome `won` leads until it is passed over. */
  readonly offer: (path: string, finding: Signed, judged: Judged) => void;
  /** Tells how many items a way found for a list. */
  readonly count: (
    path: string,
    by: Generator,
    counted: { readonly items: number; readonly outcome: Outcome },
  ) => void;
  /** Gives the offer that leads another outcome. */
  readonly passOver: (path: string, outcome: Outcome) => void;
  /** Tells the finding that a field was given, with its last confidence. */
  readonly end: (path: string, finding: Signed) => void;
  readonly told: (answer: Answered) => readonly FieldWhy[];
}

interface Answered {
  readonly value: JsonObject;
  readonly citations: readonly LocalCitation[];
  /** The least confidence of values that are kept. */
  readonly sure: number;
}

type Offers = Map<string, ToldOffer[]>;

/** An empty log, for one extraction. */
export function whyLog(): WhyLog {
  const fields: Offers = new Map();
  const offersAt = (path: string): ToldOffer[] => {
    const known = fields.get(path) ?? [];
    fields.set(path, known);
    return known;
  };
  const offer: WhyLog['offer'] = (path, finding, judged) => {
    offersAt(path).push(toldOf(finding, judged));
  };
  const lead = (path: string, change: Partial<ToldOffer>): boolean => {
    const offers = offersAt(path);
    const at = offers.findIndex(({ outcome }) => outcome === 'won');
    const leader = offers[at];
    if (leader !== undefined) offers[at] = { ...leader, ...change };
    return leader !== undefined;
  };
  return {
    ask: (path) => {
      offersAt(path);
    },
    offer,
    count: (path, by, { items, outcome }) => {
      const text = `${String(items)} ${items === 1 ? 'item' : 'items'}`;
      offersAt(path).push({ by, value: items, text, page: null, score: null, confidence: null, outcome });
    },
    passOver: (path, outcome) => {
      lead(path, { outcome });
    },
    end: (path, finding) => {
      const { confidence, value, text } = finding;
      if (!lead(path, { confidence, value, text })) offer(path, finding, { outcome: 'won', confidence });
    },
    told: (answer) => toldIn(fields, answer),
  };
}

const toldOf = (
  { by, value, text, page, confidence }: Signed,
  { outcome, score = null, confidence: sure = confidence, other }: Judged,
): ToldOffer => ({
  by,
  value,
  text,
  page,
  score,
  confidence: sure,
  outcome,
  ...(other !== undefined && { other }),
});

/** Values of lists have one offer each, which is cited. What led and was left out in the end is no answer. */
function toldIn(fields: Offers, { value, citations, sure }: Answered): readonly FieldWhy[] {
  const cited = new Map(citations.map((one) => [one.path, one]));
  const own = [...fields].map(([path, offers]): FieldWhy => {
    const at = valueAt(value, path);
    const isKept = ({ page }: ToldOffer): boolean => (page === null ? isList(at) : cited.has(path));
    const lost = (one: ToldOffer): Outcome =>
      at === undefined && (one.confidence ?? 0) < sure ? 'unsure' : 'other_shape';
    const told = offers.map((one) =>
      one.outcome !== 'won' || isKept(one) ? one : { ...one, outcome: lost(one) },
    );
    const answer = cited.get(path);
    return { path, offers: ordered(answer === undefined ? told : answeredBy(told, answer, at)) };
  });
  const others = citations.flatMap((one): readonly FieldWhy[] =>
    fields.has(one.path) ? [] : [{ path: one.path, offers: [citedOffer(one, valueAt(value, one.path))] }],
  );
  return [...own, ...others];
}

/**
 * Shapes of one place share its offers: the one that was kept says which offer its answer is, whatever another shape
 * made of it.
 */
function answeredBy(
  offers: readonly ToldOffer[],
  answer: LocalCitation,
  value: Json | undefined,
): readonly ToldOffer[] {
  if (offers.some(({ outcome }) => outcome === 'won')) return offers;
  const { by, text, page, confidence } = answer;
  const at = offers.findIndex((one) => one.by === by && one.text === text && one.page === page);
  const won = citedOffer(answer, value);
  return at === -1
    ? [...offers, won]
    : offers.with(at, { ...won, score: offers[at]?.score ?? null, confidence });
}

/** What stands at a JSON Pointer. */
const valueAt = (whole: Json, pointer: string): Json | undefined =>
  pointer
    .split('/')
    .slice(1)
    .map(pointedName)
    .reduce<Json | undefined>((at, name) => {
      if (isList(at)) return at[Number(name)];
      return isObject(at) ? ownMember(at, name) : undefined;
    }, whole);

const citedOffer = ({ by, text, page, confidence }: LocalCitation, value: Json | undefined): ToldOffer => ({
  by,
  value: value ?? null,
  text,
  page,
  score: null,
  confidence,
  outcome: 'won',
});

/** The answer, then what was surest; of equals the first that was told. */
const ordered = (offers: readonly ToldOffer[]): readonly ToldOffer[] =>
  offers.toSorted(
    (a, b) =>
      Number(b.outcome === 'won') - Number(a.outcome === 'won') ||
      (b.confidence ?? -1) - (a.confidence ?? -1) ||
      (b.score ?? -1) - (a.score ?? -1),
  );
