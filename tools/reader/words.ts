import { readFileSync } from 'node:fs';

/** Languages of what stands on pages and of names in schemas. */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pl', 'cs'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Lists of words of one language by what they are: `words/en.json` and the like. */
export type Words = Readonly<Record<string, readonly string[]>>;

/** Something that documents say: how it is labelled, and what form it has. */
export interface Concept {
  readonly id: string;
  /** `code`, `money`, `date` and so on; `role` for somebody who takes part. */
  readonly is: string;
  /** What stands behind the form in brackets, parted by `|`. */
  readonly options: readonly string[];
  readonly says: readonly string[];
  readonly labels: Readonly<Partial<Record<Language, readonly string[]>>>;
  /** What a choice is among. */
  readonly choices: Readonly<Partial<Record<Language, readonly string[]>>>;
}

/** Data stays in the checkout, three folders above what is compiled. */
const DATA = new URL('../../../tools/reader/words/', import.meta.url);

/** The text of a file of `tools/reader/words`. */
export const dataText = (name: string): string => readFileSync(new URL(name, DATA), 'utf8');
const parted = (text: string): readonly string[] => text.split('|');

function wordsOf(language: Language): Words {
  const read = JSON.parse(dataText(`${language}.json`)) as Record<string, string>;
  return Object.fromEntries(Object.entries(read).map(([name, list]) => [name, parted(list)]));
}

/** The word lists of each language. */
export const WORDS: Readonly<Record<Language, Words>> = Object.fromEntries(
  LANGUAGES.map((language) => [language, wordsOf(language)]),
) as Record<Language, Words>;

/** A list of words that is there. */
export function listOf(words: Words, name: string): readonly string[] {
  const list = words[name];
  if (list === undefined) throw new RangeError(`no list of words is named ${name}`);
  return list;
}

/** Lines of some languages by their first word: `de Datum|Tag`, or with a mark behind the language. */
const byLanguage = (lines: ReadonlyMap<string, string>, mark: string): Concept['labels'] =>
  Object.fromEntries(
    LANGUAGES.flatMap((language) => {
      const line = lines.get(language + mark);
      return line === undefined ? [] : [[language, parted(line)] as const];
    }),
  );

/** One concept: a name and a form, then descriptions, labels and choices line by line. */
function conceptIn(part: string): Concept | undefined {
  const [first = '', ...rest] = part.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const [, id, is = '', behind = ''] = /^(\S+) ([a-z]+)(.*)$/.exec(first) ?? [];
  if (id === undefined) return undefined;
  const lines = new Map(
    rest.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
  );
  const options = behind.trim().replace(/^\((.*)\)$/, '$1');
  return {
    id,
    is,
    options: options === '' ? [] : parted(options),
    says: parted(lines.get('says') ?? ''),
    labels: byLanguage(lines, ''),
    choices: byLanguage(lines, '?'),
  };
}

const conceptsIn = (text: string): ReadonlyMap<string, Concept> =>
  new Map(
    text
      .split(/\n\s*\n/)
      .map(conceptIn)
      .flatMap((concept) => (concept === undefined ? [] : [[concept.id, concept] as const])),
  );

/** Every concept by its name. */
export const CONCEPTS: ReadonlyMap<string, Concept> = conceptsIn(dataText('concepts.txt'));

/**
 * A concept by name; `seller.phone` is a part of a role: its labels are those of the part. Those of a name are those
 * of a company's name, `.name:org`, or of a person's, where the role says which.
 */
export function conceptOf(id: string): Concept {
  const known = CONCEPTS.get(id);
  if (known !== undefined) return known;
  const [role = '', part = ''] = id.split('.');
  const [who, what] = [CONCEPTS.get(role), CONCEPTS.get(`.${part}`)];
  if (who === undefined || what === undefined) throw new RangeError(`no concept is named ${id}`);
  const says = what.says.map((text) => text.replace('{role}', role.replace(/_/g, ' ')));
  const is = what.is === 'party' ? (who.options[0] ?? 'party') : what.is;
  const { labels } = CONCEPTS.get(`.${part}:${is}`) ?? what;
  return { ...what, id, is, says, labels };
}

/** The labels of a concept in a language, none where it has none. */
export const labelsOf = (id: string, language: Language): readonly string[] =>
  conceptOf(id).labels[language] ?? [];
