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

/** Reads `words/concepts.txt`: a name and a form, then descriptions, labels and choices line by line. */
function conceptsIn(text: string): ReadonlyMap<string, Concept> {
  const concepts = new Map<string, Concept>();
  for (const part of text.split(/\n\s*\n/)) {
    const [first = '', ...rest] = part.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const [, id = '', is = '', , options = ''] = /^(\S+) ([a-z]+)(\((.*)\)| (.*))?$/.exec(first) ?? [];
    if (id === '') continue;
    const lines = new Map(
      rest.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
    );
    const by = (mark: string) =>
      Object.fromEntries(
        LANGUAGES.flatMap((language) => {
          const line = lines.get(language + mark);
          return line === undefined ? [] : [[language, parted(line)] as const];
        }),
      );
    const behind = first.slice(id.length + is.length + 1).trim();
    concepts.set(id, {
      id,
      is,
      options: behind === '' ? [] : parted(options === '' ? behind : options),
      says: parted(lines.get('says') ?? ''),
      labels: by(''),
      choices: by('?'),
    });
  }
  return concepts;
}

/** Every concept by its name. */
export const CONCEPTS: ReadonlyMap<string, Concept> = conceptsIn(dataText('concepts.txt'));

const ROLE_SAYS: Readonly<Record<string, string>> = { name: '', address: '', phone: '' };

/**
 * A concept by name; `seller.phone` is a part of a role: its labels are those of the part, and with the role's
 * before them in `full`.
 */
export function conceptOf(id: string): Concept {
  const known = CONCEPTS.get(id);
  if (known !== undefined) return known;
  const [role = '', part = ''] = id.split('.');
  const [who, what] = [CONCEPTS.get(role), CONCEPTS.get(`.${part}`)];
  if (who === undefined || what === undefined) throw new RangeError(`no concept is named ${id}`);
  const says = what.says.map((text) => text.replace('{role}', role.replace(/_/g, ' ')));
  const is = what.is === 'party' ? (who.options[0] ?? 'party') : what.is;
  return { ...what, id, is, says: ROLE_SAYS[part] === undefined ? says : [...says], options: what.options };
}

/** The labels of a concept in a language, none where it has none. */
export const labelsOf = (id: string, language: Language): readonly string[] =>
  conceptOf(id).labels[language] ?? [];
