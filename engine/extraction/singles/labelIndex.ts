import type { Word } from '../../document/document.ts';
import { boxesOf, type Box } from '../form/boxes.ts';
import { formOf, type Form } from '../form/form.ts';
import type { Pair } from '../form/pair.ts';
import { NUMBERING } from '../form/printed.ts';
import { says } from '../words/says.ts';
import { alike } from '../words/alike.ts';
import { bothOf, initialsOf, termsIn, type Terms } from '../fields/terms.ts';
import { wordsIn, type Layout, type Segment } from '../places/layout.ts';
import { paragraphsOf } from '../places/paragraphs.ts';
import type { Source } from '../source.ts';
import { addTo } from '../../kernel/lists.ts';
import { remembered, once } from '../../kernel/once.ts';
import type { WordSet } from '../words/lexicon.ts';

/** What a label says, and how much that is worth. */
interface Way {
  readonly words: readonly string[];
  readonly context: readonly string[];
  readonly share: number;
}

/** A label of the document, under one heading, with all pairs that have it. */
export interface Label {
  readonly words: readonly string[];
  /** All that it says, and what each of its parts says that says the same again. */
  readonly ways: readonly Way[];
  readonly pairs: readonly Pair[];
  /** The number or letter that it begins with, as the places of forms do. */
  readonly item: string | undefined;
}

export interface ScoredLabel {
  readonly label: Label;
  readonly score: number;
}

/** What a document prints, by its words: a field looks only at what has one of its own. */
export interface LabelIndex {
  readonly form: Form;
  readonly boxes: readonly Box[];
  /** The words beside boxes that are not ticked, up to a colon. */
  readonly unticked: ReadonlySet<Word>;
  /** The labels that have a word like one of the field's, with how well each says it. */
  readonly labelled: (terms: Terms, implied: WordSet) => readonly ScoredLabel[];
  /** The paragraphs that have a word like one of the field's. */
  readonly speaking: (terms: Terms) => readonly Segment[];
}

/** Made once for a document. */
export const labelIndexOf = ({ layout }: Source): LabelIndex => indexed(layout);

const indexed = once(indexOf);

function indexOf(layout: Layout): LabelIndex {
  const form = formOf(layout);
  const labels = labelsOf(form.pairs, layout);
  const byWord = wordIndex(labels.map(({ ways }) => ways.flatMap(({ words }) => words)));
  const texts = paragraphsOf(layout).all;
  const textsByWord = wordIndex(texts.map(({ text }) => termsIn(text)));
  const boxes = boxesOf(layout);
  return {
    form,
    boxes,
    unticked: untickedIn(boxes),
    labelled: (terms, implied) =>
      placesOf(terms, byWord).flatMap((place) => {
        const label = labels[place];
        if (label === undefined) return [];
        const said = label.ways.reduce((most, { words, context, share }) => {
          const own = share * says({ label: words, context, implied }, terms);
          return Math.max(most, own);
        }, 0);
        const score = placed(said, { asked: terms.item, printed: label.item });
        return score > 0 ? [{ label, score }] : [];
      }),
    speaking: (terms) => placesOf(terms, textsByWord).flatMap((place) => texts[place] ?? []),
  };
}

/** Of what a label leaves unsaid, the number of its place on the form says so much. */
const BY_ITEM = 0.7;
/** Another place of the form. */
const OTHER_ITEM = 0.7;

/** How well a label says a field, with the place on the form that the schema names: "box 12a". */
function placed(
  said: number,
  { asked, printed }: { readonly asked: string | undefined; readonly printed: string | undefined },
): number {
  if (said === 0 || asked === undefined || printed === undefined) return said;
  return printed.split('/').includes(asked) ? said + BY_ITEM * (1 - said) : OTHER_ITEM * said;
}

const BEGINS = /^\(?(\d{1,3}[a-z]?|[a-z](?:\/[a-z])?)[.)]?\s+\p{L}{2}/u;

/** The number before a label, in its own text or at its left. */
function itemOf({ label, at }: Pair, { segments }: Layout): string | undefined {
  const own = BEGINS.exec(label)?.[1];
  if (own !== undefined) return own;
  const before = segments[at.index - 1];
  return before?.row === at.row ? NUMBERING.exec(before.text)?.[0].replace(/[().\s]/g, '') : undefined;
}

/** Where no box is ticked, all but true check boxes may be the marks of a list. */
function untickedIn(boxes: readonly Box[]): ReadonlySet<Word> {
  const isForm = boxes.some(({ isTicked }) => isTicked);
  const open = boxes.filter(
    ({ isTicked, segment, from }) => !isTicked && (isForm || /^[☐[(]/u.test(segment.text.slice(from))),
  );
  return new Set(
    open.flatMap(({ segment, from, to, value }) =>
      [{ segment, from, to }, value].flatMap((spot) => {
        const colon = spot.segment.text.slice(spot.from, spot.to).indexOf(':');
        return wordsIn(spot.segment, spot.from, colon < 0 ? spot.to : spot.from + colon);
      }),
    ),
  );
}

function labelsOf(pairs: readonly Pair[], layout: Layout): readonly Label[] {
  const labels = new Map<string, Omit<Label, 'pairs'> & { pairs: Pair[] }>();
  for (const pair of pairs) {
    const key = `${pair.label}\n${pair.context}`;
    const known = labels.get(key);
    if (known === undefined) labels.set(key, { ...saidBy(pair), pairs: [pair], item: itemOf(pair, layout) });
    else known.pairs.push(pair);
  }
  return [...labels.values()];
}

/** A heading or a line of a form may have its number before it: `12.1`, `(3)`, `I.5.`, `C.1.1`. */
const unnumbered = (label: string): string =>
  label.replace(/^\(?(?:[A-Z]{1,3}\.)?\d{1,2}(?:\.\d{1,2}){0,2}[.)]{0,2}\s(?=\p{L}{3})/u, '');

const IN_BRACKETS = /\(([^()]{2,60})\)/gu;

/** What stands in brackets behind a label explains it, as the heading above does, or says it in other words. */
function saidBy(pair: Pair): Pick<Label, 'words' | 'ways'> {
  const label = unnumbered(pair.label);
  const outside = label.replace(IN_BRACKETS, ' ');
  const bare = termsIn(outside);
  const context = contextTerms(pair);
  if (bare.length === 0)
    return { words: termsIn(label), ways: [{ words: termsIn(label), context, share: 1 }] };
  const insides = [...label.matchAll(IN_BRACKETS)].map(([, inside = '']) => termsIn(inside));
  const around = [...insides.flat(), ...context];
  const again = insides
    .filter((words) => words.length > 0)
    .map((words): Way => ({ words, context: [...bare, ...context], share: IN_OTHER_WORDS }));
  const first = firstSaid(outside).map((words): Way => ({ words, context: around, share: IN_OTHER_WORDS }));
  const twice = [...twiceSaid(outside), ...bothOf(outside).map(termsIn)].map((words): Way => ({
    words,
    context: around,
    share: IN_ONE_LANGUAGE,
  }));
  return { words: bare, ways: [{ words: bare, context: around, share: 1 }, ...twice, ...first, ...again] };
}

/** In brackets stands what else a label may be called, and much else. */
const IN_OTHER_WORDS = 0.9;
const IN_ONE_LANGUAGE = 0.97;
/** Words so alike say the same in two languages. */
const SAME_AGAIN = 0.6;

/** The sides of a slash that say the same: forms for several countries print a label in two languages. */
function twiceSaid(label: string): readonly (readonly string[])[] {
  const sides = label.split(/\s\/\s/);
  const [one = [], other = []] = sides.map(termsIn);
  if (sides.length !== 2) return [];
  const isSame = one.some((word) => other.some((also) => alike(word, also) >= SAME_AGAIN));
  return isSame ? [one, other] : [];
}

/** "Order / Rev." before two values says what the first is. */
const firstSaid = (label: string): readonly (readonly string[])[] => {
  const [first = '', second] = label.split(/\s\/\s/);
  return second === undefined ? [] : [termsIn(first)];
};

const contextTerms = ({ label, context }: Pair): readonly string[] => [
  ...termsIn(context),
  ...[label, ...context.split(' · ')].flatMap(initialsOf),
];

/** Words with the places where each stands; `like`: those that are like a word, which many fields ask for. */
interface WordIndex {
  readonly places: ReadonlyMap<string, readonly number[]>;
  readonly like: (own: string) => readonly string[];
}

function wordIndex(texts: readonly (readonly string[])[]): WordIndex {
  const places = new Map<string, number[]>();
  for (const [place, words] of texts.entries())
    for (const word of new Set(words)) {
      addTo(places, word, place);
    }
  const words = [...places.keys()];
  const known = new Map<string, readonly string[]>();
  const like = (own: string): readonly string[] =>
    remembered(known, own, () => words.filter((word) => alike(own, word) > 0));
  return { places, like };
}

/** What has a word that most of what is there has tells nothing of one field. */
const PLACES_MAX = 400;

function placesOf({ all, calls }: Terms, index: WordIndex): readonly number[] {
  const acronyms = calls.map(({ words }) => words.map((word) => word.charAt(0)).join(''));
  const places = new Set<number>();
  for (const word of new Set([...acronyms, ...[...all].flatMap(index.like)]))
    for (const place of (index.places.get(word) ?? []).slice(0, PLACES_MAX)) places.add(place);
  return [...places].sort((a, b) => a - b);
}
