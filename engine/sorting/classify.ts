import type { DocumentPage, Line } from '../document/document.ts';
import { folded } from '../kernel/text.ts';
import { stemOf } from '../extraction/words/labelWords.ts';
import type { Classified, DocumentClass, SortingReason } from '../ports/sorting.ts';
import { contains, soughtClass, type SoughtClass } from './classWords.ts';
import { boxAround, pageFactsOf, type PageFacts, wordsIn } from './pageFacts.ts';

/** A document as classes are held against it. */
interface Held {
  readonly pages: readonly DocumentPage[];
  /** Short lines near the top of its first page, which may name it. */
  readonly titles: readonly { readonly words: readonly string[]; readonly weight: number }[];
  /** The words of its first page in their order. */
  readonly opening: readonly string[];
  /** How much each word counts: most at the top of the first page, least on later pages. */
  readonly weights: ReadonlyMap<string, number>;
  readonly words: ReadonlyMap<string, number>;
}

const TITLE_WORDS_MAX = 9;
const TITLE_LINES = 25;
const OPENING_WORDS = 600;
/** What a word counts by where it stands. */
const AT = { top: 1, first: 0.7, later: 0.3 };
/** Pages of a document whose words are looked at. */
const PAGES_MAX = 40;

function titlesOf(page: DocumentPage, { titleSize, title, height }: PageFacts): Held['titles'] {
  return page.lines.slice(0, TITLE_LINES).flatMap((line, at) => {
    const words = wordsIn(line.text);
    if (words.length === 0 || words.length > TITLE_WORDS_MAX) return [];
    const isLarge = line === title && titleSize > 1.15;
    const isCapital = line.text === line.text.toUpperCase() && /\p{Lu}{3}/u.test(line.text);
    const depth = line.box === null || height === null ? at / TITLE_LINES : line.box[1] / height;
    return [{ words, weight: isLarge ? 1 : isCapital ? 0.9 : depth < 0.3 ? 0.7 : 0.5 }];
  });
}

/** How often each word is on the pages, and how much it counts; `printed`: the first of them that has any. */
function weighed(facts: readonly PageFacts[], printed: number): Pick<Held, 'weights' | 'words'> {
  const weights = new Map<string, number>();
  const words = new Map<string, number>();
  const add = (word: string, weight: number): void => {
    if ((weights.get(word) ?? 0) < weight) weights.set(word, weight);
  };
  for (const [at, page] of facts.slice(0, PAGES_MAX).entries())
    for (const [word, times] of page.words) {
      words.set(word, (words.get(word) ?? 0) + times);
      add(word, at === printed ? AT.first : AT.later);
    }
  for (const word of facts[printed]?.head ?? []) add(word, AT.top);
  return { weights, words };
}

function heldOf(pages: readonly DocumentPage[], facts: readonly PageFacts[]): Held {
  const printed = facts.findIndex(({ count }) => count > 0);
  const [first, ofFirst] = [pages[printed], facts[printed]];
  return {
    pages,
    titles: first === undefined || ofFirst === undefined ? [] : titlesOf(first, ofFirst),
    opening: (first?.lines ?? []).flatMap(({ text }) => wordsIn(text)).slice(0, OPENING_WORDS),
    ...weighed(facts, printed),
  };
}

/** Of the classes, how many speak of a word: what all speak of tells none apart. */
type Spread = ReadonlyMap<string, number>;

const spreadOf = (sets: readonly ReadonlySet<string>[]): Spread => {
  const spread = new Map<string, number>();
  for (const set of sets) for (const word of set) spread.set(word, (spread.get(word) ?? 0) + 1);
  return spread;
};

const rarity = (spread: Spread, count: number, word: string): number =>
  Math.log(1 + count / (spread.get(word) ?? 1));

/** How much of what is said of a class the document has, 0..1. */
function covered(held: Held, sought: ReadonlySet<string>, { spread, count }: Among): number {
  let [all, has] = [0, 0];
  for (const word of sought) {
    const weight = rarity(spread, count, word);
    all += weight;
    has += weight * (held.weights.get(word) ?? 0);
  }
  return all === 0 ? 0 : has / all;
}

interface Among {
  readonly spread: Spread;
  readonly count: number;
}

/** How much of a line a name is: one that it begins with, or that is most of it. */
function shareOf(phrase: readonly string[], words: readonly string[]): number {
  const share = phrase.length / words.length;
  const isFirst = phrase.every((word, at) => words[at] === word);
  return isFirst ? 0.7 + 0.3 * share : share;
}

/** How clearly a title says one of the names, 0..1, and else the opening text. */
function named({ titles, opening }: Held, { phrases }: SoughtClass): number {
  let best = 0;
  for (const [at, phrase] of phrases.entries()) {
    const own = at === 0 ? 1 : 0.9;
    for (const { words, weight } of titles) {
      if (!contains(words, phrase)) continue;
      best = Math.max(best, own * weight * shareOf(phrase, words));
    }
    if (best < 0.2 && phrase.length > 1 && contains(opening, phrase)) best = 0.2 * own;
  }
  return best;
}

function cosine(
  a: ReadonlyMap<string, number>,
  b: ReadonlyMap<string, number>,
  { spread, count }: Among,
): number {
  const weight = (word: string): number => rarity(spread, count, word);
  let [both, ofA, ofB] = [0, 0, 0];
  for (const [word, times] of a) {
    ofA += (Math.sqrt(times) * weight(word)) ** 2;
    both += Math.sqrt(times) * Math.sqrt(b.get(word) ?? 0) * weight(word) ** 2;
  }
  for (const [word, times] of b) ofB += (Math.sqrt(times) * weight(word)) ** 2;
  return ofA === 0 || ofB === 0 ? 0 : both / Math.sqrt(ofA * ofB);
}

/** What each kind of evidence counts, in logits. */
const WEIGHTS = { named: 5, nameWords: 1, said: 6, fields: 4, examples: 16 };
/** What no class has to reach. */
const NOTHING = 2.4;

/** All that is known of the classes together. */
export interface Classes {
  readonly sought: readonly SoughtClass[];
  readonly said: Among;
  readonly fields: Among;
  readonly names: Among;
  readonly examples: Among;
}

export function classesOf(given: readonly DocumentClass[]): Classes {
  const sought = given.map(soughtClass);
  const among = (sets: readonly ReadonlySet<string>[]): Among => ({
    spread: spreadOf(sets),
    count: sets.length,
  });
  return {
    sought,
    said: among(sought.map(({ said }) => said)),
    fields: among(sought.map(({ fields }) => fields)),
    names: among(sought.map(({ nameWords }) => nameWords)),
    examples: among(sought.flatMap(({ examples }) => examples.map((one) => new Set(one.keys())))),
  };
}

/** The nearest of its examples, and how much nearer they are than a text of any kind. */
const likeExamples = (held: Held, { examples }: SoughtClass, among: Among): number =>
  examples.reduce((best, one) => Math.max(best, cosine(held.words, one, among)), 0);

function oddsOf(held: Held, classes: Classes): readonly number[] {
  const near = classes.sought.map((one) => likeExamples(held, one, classes.examples));
  const base =
    near.length < 2
      ? 0.1
      : Math.min(...near.filter((_, at) => (classes.sought[at]?.examples.length ?? 0) > 0), 0.3);
  return classes.sought.map(
    (one, at) =>
      WEIGHTS.named * named(held, one) +
      WEIGHTS.nameWords * covered(held, one.nameWords, classes.names) +
      WEIGHTS.said * covered(held, one.said, classes.said) +
      WEIGHTS.fields * covered(held, one.fields, classes.fields) +
      WEIGHTS.examples * Math.max(0, (near[at] ?? 0) - base),
  );
}

const REASONS_MAX = 5;
/** Of them, names of the class. */
const NAMES_MAX = 2;

/** Where words of a class stand on the first pages, the best of them first. */
function reasonsFor(held: Held, one: SoughtClass, classes: Classes): readonly SortingReason[] {
  const wanted = new Map<string, number>();
  const want = (words: Iterable<string>, weight: (word: string) => number): void => {
    for (const word of words)
      if (held.weights.has(word)) wanted.set(word, Math.max(wanted.get(word) ?? 0, weight(word)));
  };
  const rareIn =
    ({ spread, count }: Among) =>
    (word: string) =>
      rarity(spread, count, word) * (held.weights.get(word) ?? 0);
  want(one.said, rareIn(classes.said));
  want(one.fields, rareIn(classes.fields));
  for (const example of one.examples) want(example.keys(), (word) => 0.3 * rareIn(classes.examples)(word));
  const lines = saidLines(held);
  const reasons = new Map<string, SortingReason>();
  const add = (place: SortingReason | undefined): number => {
    if (place === undefined) return 0;
    const name = folded(place.text);
    if (!reasons.has(name)) reasons.set(name, place);
    return 1;
  };
  let names = 0;
  for (const phrase of one.phrases) {
    if (names === NAMES_MAX) break;
    if (contains(held.opening, phrase)) names += add(placeOf(lines, phrase));
  }
  for (const [word] of [...wanted].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))) {
    if (reasons.size === REASONS_MAX) break;
    add(placeOf(lines, [word]));
  }
  return [...reasons.values()];
}

interface SaidLine {
  readonly page: number;
  readonly line: Line;
  readonly words: readonly string[];
}

/** The lines whose words were weighed. */
const saidLines = ({ pages }: Held): readonly SaidLine[] =>
  pages
    .slice(0, PAGES_MAX)
    .flatMap(({ page, lines }) => lines.map((line) => ({ page, line, words: wordsIn(line.text) })));

function placeOf(lines: readonly SaidLine[], phrase: readonly string[]): SortingReason | undefined {
  const found = lines.find(({ words }) => contains(words, phrase));
  return found && { ...placeIn(found.line, phrase), page: found.page };
}

const TEXT_MAX = 200;

/** The words of a line that say a phrase. */
function placeIn(line: Line, phrase: readonly string[]): Omit<SortingReason, 'page'> {
  const said = new Set(phrase);
  const words = line.words.filter(({ text }) =>
    (folded(text).match(/\p{L}+/gu) ?? []).some((word) => said.has(stemOf(word))),
  );
  const text = words.length === 0 ? line.text : words.map((word) => word.text).join(' ');
  return {
    text: text.slice(0, TEXT_MAX),
    bbox: words.length === 0 ? line.box : boxAround(words.map(({ box }) => box)),
  };
}

/** Classes in an answer. */
const RANKED_MAX = 20;
/** A class that is less sure than that says nothing. */
const RANKED_MIN = 0.001;
const hundredths = (value: number): number => Math.round(value * 1000) / 1000;

/** Tells of what class pages are that make up a document. */
export function classified(
  pages: readonly DocumentPage[],
  facts: readonly PageFacts[],
  classes: Classes,
): Classified {
  const held = heldOf(pages, facts);
  const odds = oddsOf(held, classes);
  const most = odds.reduce((a, b) => Math.max(a, b), NOTHING);
  const nothing = Math.exp(NOTHING - most);
  const all = odds.reduce((sum, odd) => sum + Math.exp(odd - most), nothing);
  const chances = odds
    .map((odd, at) => ({ at, chance: Math.exp(odd - most) / all }))
    .sort((a, b) => b.chance - a.chance || a.at - b.at);
  const [best] = chances;
  const isOne = best !== undefined && best.chance > nothing / all;
  const sought = isOne ? classes.sought[best.at] : undefined;
  return {
    class: sought?.name ?? null,
    confidence: hundredths(sought === undefined ? nothing / all : (best?.chance ?? 0)),
    ranked: chances.slice(0, RANKED_MAX).flatMap(({ at, chance }) => {
      const name = classes.sought[at]?.name;
      return name === undefined || chance < RANKED_MIN ? [] : { class: name, confidence: hundredths(chance) };
    }),
    reasons: sought === undefined ? [] : reasonsFor(held, sought, classes),
  };
}

/** Tells of what class a document is. */
export const classify = (pages: readonly DocumentPage[], given: readonly DocumentClass[]): Classified =>
  classified(pages, pages.map(pageFactsOf), classesOf(given));
