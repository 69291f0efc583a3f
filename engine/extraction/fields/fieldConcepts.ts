import {
  isOnlyRowConcept,
  isRowConcept,
  conceptNamed,
  concepts,
  type Concept,
  type ValueKind,
  vocabulary,
  type Vocabulary,
} from '../words/concepts.ts';
import { phraseSimilarity } from '../words/alike.ts';
import { memoryOf } from '../../kernel/once.ts';
import { lexicon, type WordList } from '../words/lexicon.ts';

/** Whose a field is. */
export type Role = keyof typeof lexicon.roles;

const ROLES = Object.entries(lexicon.roles) as readonly (readonly [Role, WordList])[];

/** The role that words name; the first of them that names one decides. */
export function roleIn(words: readonly string[]): Role | undefined {
  if (words.includes('from') && words.includes('bill')) return 'seller';
  for (const word of words) {
    const role = ROLES.find(([, named]) => named.has(word))?.[0];
    if (role !== undefined) return role;
  }
  return undefined;
}

/** The words without those that name a role. */
export const withoutRole = (words: readonly string[]): readonly string[] =>
  words.filter((word) => !ROLES.some(([, named]) => named.has(word)));

/** What the schema says of a field. */
export interface Naming {
  readonly name: readonly string[];
  readonly role: Role | undefined;
  readonly phrases: readonly (readonly string[])[];
  readonly about: readonly (readonly string[])[];
  readonly kind: ValueKind | undefined;
  readonly inRow: boolean;
}

const UNITS = lexicon.labels.units;

/** A name may end in the unit of its value. */
const withoutUnit = (words: readonly string[]): readonly string[] =>
  UNITS.has(words.at(-1) ?? '') ? words.slice(0, -1) : words;

/** Every word of a name may stand in any field's. */
export const isVague = (words: readonly string[]): boolean => words.every((word) => VAGUE.has(word));

const KNOWN: Vocabulary = vocabulary();
const NAMES_ENOUGH = 0.6;
/** A name without the words of its role counts a little less: `vendor_email` is an email. */
const WITHOUT_ROLE = 0.95;
const BY_DESCRIPTION = 0.9;
/** A name that says next to nothing leaves the word to the description. */
const VAGUE = lexicon.labels.vague;
const VAGUE_WEIGHT = 0.7;
/** A number is seldom asked for as text: `country` is no count. */
const NUMBER_AS_TEXT = 0.6;

/** A date is seldom asked for as text by a name that does not speak of days. */
const DATE_UNSAID = 0.6;
const DATE_WORD = new RegExp(`^${lexicon.labels.date_words.pattern}`);

/** How well the names say each concept; the description counts a little less. */
function conceptScorer({ phrases, about, kind }: Naming): (concept: Concept) => number {
  const named = likeness(phrases);
  const bare = likeness(
    phrases.map((words) => withoutUnit(withoutRole(words))).filter((words) => words.length > 0),
  );
  const told = likeness(about);
  const saysDate = [...phrases, ...about].some((words) => words.some((word) => DATE_WORD.test(word)));
  const vague = phrases.every(isVague) ? VAGUE_WEIGHT : 1;
  return (concept) => {
    const own = vague * Math.max(named.get(concept) ?? 0, WITHOUT_ROLE * (bare.get(concept) ?? 0));
    const said = Math.max(own, BY_DESCRIPTION * (told.get(concept) ?? 0)) + 0.1 * own;
    if (kind === undefined && concept.kind === 'date' && !saysDate) return DATE_UNSAID * said;
    return kind === undefined && isNumeric(concept) ? NUMBER_AS_TEXT * said : said;
  };
}

/** The concept that the field's names mean best. */
function bestConcept(naming: Naming): Concept | undefined {
  const scoreOf = conceptScorer(naming);
  let best: { concept: Concept; score: number } | undefined;
  for (const concept of concepts()) {
    const score = fits(concept, naming.kind, naming.inRow) ? scoreOf(concept) : 0;
    if (score >= NAMES_ENOUGH && score > (best?.score ?? 0)) best = { concept, score };
  }
  return best?.concept;
}

function fits(concept: Concept, kind: ValueKind | undefined, inRow: boolean): boolean {
  if (inRow ? !isRowConcept(concept) : isOnlyRowConcept(concept)) return false;
  if (kind === 'number') return isNumeric(concept);
  return kind === undefined || concept.kind === kind;
}

const isNumeric = ({ kind }: Concept): boolean =>
  kind === 'number' || kind === 'integer' || kind === 'percent';

/** How well each concept is said by the best of the names, both ways: no word of either is left over. */
function likeness(names: readonly (readonly string[])[]): ReadonlyMap<Concept, number> {
  const best = new Map<Concept, number>();
  for (const name of names)
    for (const [concept, both] of likenessOf(name))
      if (both > (best.get(concept) ?? 0)) best.set(concept, both);
  return best;
}

/** Schemas have the same few names again and again: these are looked up once. */
const looked = memoryOf<ReadonlyMap<Concept, number>>(1_000);
/** A description has more words, and seldom comes again. */
const LOOKED_WORDS_MAX = 6;

const likenessOf = (name: readonly string[]): ReadonlyMap<Concept, number> =>
  name.length > LOOKED_WORDS_MAX ? lookedUp(name) : looked(name.join(' '), () => lookedUp(name));

function lookedUp(name: readonly string[]): ReadonlyMap<Concept, number> {
  const best = new Map<Concept, number>();
  for (const { concept, words, score } of KNOWN.phrasesFor(name)) {
    if (score < 0.5) continue;
    const both = Math.min(score, phraseSimilarity(name, words));
    if (both > (best.get(concept) ?? 0)) best.set(concept, both);
  }
  return best;
}

/** `name` inside of `customer` is the customer. */
function namedParty({ name, role, kind }: Naming): Concept | undefined {
  const bare = withoutRole(name);
  const isName = bare.length === 0 || (bare.length === 1 && bare[0] === 'name');
  return isName && kind === undefined ? conceptNamed(role) : undefined;
}

/** What a field means: the party that its role names, else the concept that its names say best. */
export const conceptOf = (naming: Naming): Concept | undefined => namedParty(naming) ?? bestConcept(naming);
