import amounts from '../lexicon/amounts.json' with { type: 'json' };
import dates from '../lexicon/dates.json' with { type: 'json' };
import identifiers from '../lexicon/identifiers.json' with { type: 'json' };
import parties from '../lexicon/parties.json' with { type: 'json' };
import rows from '../lexicon/rows.json' with { type: 'json' };
import terms from '../lexicon/terms.json' with { type: 'json' };
import { labelWords } from './words.ts';
import { sha256 } from '../../kernel/canonicalJson.ts';

const KINDS = [
  'date',
  'number',
  'integer',
  'percent',
  'currency',
  'id',
  'iban',
  'bic',
  'vat_id',
  'email',
  'phone',
  'url',
  'party',
  'address',
  'text',
  'boolean',
] as const;

/** What kind of value a concept has. */
export type ValueKind = (typeof KINDS)[number];

/** An idea that documents and schemas name in many ways. */
export interface Concept {
  readonly id: string;
  readonly kind: ValueKind;
  readonly phrases: readonly (readonly string[])[];
}

const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pt', 'pl', 'cs'] as const;
type Language = (typeof LANGUAGES)[number];

/** A concept as `../lexicon` has it: its kind, and the phrases of each language without case and diacritics. */
type Entry = Readonly<Partial<Record<Language, readonly string[]>>> & { readonly kind: string };

/** German and Dutch write two words as one as often as apart. */
const COMPOUNDING: ReadonlySet<Language> = new Set(['de', 'nl']);

function kindOf(id: string, name: string): ValueKind {
  const kind = KINDS.find((one) => one === name);
  if (kind === undefined) throw new Error(`The lexicon's "${id}" is of a kind that is unknown: "${name}"`);
  return kind;
}

/** A phrase that ends in an article or preposition says another thing without it: "facture du". */
function conceptOf(id: string, entry: Entry): Concept {
  const kind = kindOf(id, entry.kind);
  const phrases = new Map<string, readonly string[]>();
  const add = (phrase: string): void => {
    const words = labelWords(phrase);
    const says = words.join(' ');
    const start = phrase.split(' ').slice(0, -1).join(' ');
    const isCut =
      kind !== 'party' &&
      start !== '' &&
      labelWords(start).join(' ') === says &&
      !/(?:nr|no|id)$/.test(phrase);
    if (says !== '' && !isCut && (says !== 'nr' || id === 'line_number')) phrases.set(says, words);
  };
  for (const language of LANGUAGES) {
    for (const phrase of entry[language] ?? []) {
      add(phrase);
      const pair = phrase.split(' ');
      if (COMPOUNDING.has(language) && pair.length === 2) add(pair.join(''));
    }
  }
  return { id, kind, phrases: [...phrases.values()] };
}

const TABLES: readonly Readonly<Record<string, Entry>>[] = [
  amounts,
  dates,
  identifiers,
  parties,
  rows,
  terms,
];

let known: readonly Concept[] | undefined;

/**
 * The shipped vocabulary, in the nine languages that are named above. Competing concepts
 * are there so that their labels are not taken for ours ("due date" for the invoice date). Read at first use,
 * for not every process extracts.
 */
export const concepts = (): readonly Concept[] =>
  (known ??= TABLES.flatMap((table) => Object.entries(table).map(([id, entry]) => conceptOf(id, entry))));

/** Ids of the concepts of tables' rows. */
const ROW_IDS: ReadonlySet<string> = new Set(Object.keys(rows));

/** The concept with an id, the first where two tables have it; undefined where none has. */
export const conceptNamed = (id: string | undefined): Concept | undefined =>
  concepts().find((one) => one.id === id);

/** Concepts that columns may have though they are no row's own. */
const ALSO_COLUMNS = new Set([
  'article_number',
  'tax_rate',
  'discount',
  'discount_rate',
  'reference',
  'serial_number',
  'order_number',
  'delivery_date',
  'tax_total',
]);

/** Concepts that rows of tables may ask for. */
export const isRowConcept = ({ id }: Concept): boolean => ROW_IDS.has(id) || ALSO_COLUMNS.has(id);
/** Concepts that only rows have. */
export const isOnlyRowConcept = ({ id }: Concept): boolean => ROW_IDS.has(id) && !ALSO_ALONE.has(id);
const ALSO_ALONE = new Set('weight volume packages hs_code size color balance article_number'.split(' '));

/** Names the vocabulary that the rules knew when an artifact was made. */
export const lexiconVersion = (): string =>
  sha256(
    concepts()
      .map(({ id, phrases }) => `${id}:${phrases.map((words) => words.join(' ')).join('|')}`)
      .join('\n'),
  ).slice(0, 16);
