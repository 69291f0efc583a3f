import type { Field } from '../extraction/fields/fields.ts';
import { concepts } from '../extraction/words/concepts.ts';
import { wordsOf } from './words.ts';
import { pointedName } from '../kernel/json.ts';
import { remembered } from '../kernel/once.ts';
import { stemOf } from '../extraction/words/labelWords.ts';
import { type Want } from '../extraction/fields/wants.ts';

/** Looks of a value that the words of a field ask for, in the order that the weights know. */
const LOOKS = {
  person: 'person',
  org: 'org',
  address: 'address',
  place: 'place',
  id: 'id',
  email: 'email',
  phone: 'phone',
  url: 'url',
  money: 'money',
  count: 'count',
  percent: 'percent',
  date: 'date',
  time: 'time',
  duration: 'duration',
  currency: 'currency',
  long: 'long',
  title: 'work_title',
  start: 'since',
  end: 'until',
} as const satisfies Readonly<Record<string, Want>>;
export type Look = keyof typeof LOOKS;
export const WANTS = Object.keys(LOOKS) as readonly Look[];

/** A field as the scorer sees it: its words, and what form its value has. */
export interface Asked {
  readonly field: Field;
  readonly form: 'string' | 'number' | 'date' | 'choice';
  readonly name: readonly string[];
  readonly parents: readonly string[];
  /** Phrases of its title and its description. */
  readonly phrases: readonly (readonly string[])[];
  /** All its words. */
  readonly all: readonly string[];
  /** The lexicon's phrases for its concept. */
  readonly known: readonly (readonly string[])[];
  /** 1: its name says so; 0.5: its description does. */
  readonly wants: Readonly<Record<Look, number>>;
  readonly depth: number;
}

const segmentsOf = (pointer: string): readonly string[] => pointer.split('/').slice(1).map(pointedName);

const PHRASE_WORDS_MAX = 6;
const KNOWN_PHRASES = new Map<string, readonly (readonly string[])[]>();

/** The phrases of a concept in the words of the scorer. */
const phrasesOf = (id: string): readonly (readonly string[])[] =>
  remembered(KNOWN_PHRASES, id, () =>
    (concepts().find((one) => one.id === id)?.phrases ?? []).map((words) => words.map(stemOf)),
  );

function formOf({ type, kind, choices }: Field): Asked['form'] | undefined {
  if (type === 'boolean') return undefined;
  if (type !== 'string') return 'number';
  if (choices.length > 0) return 'choice';
  return kind === 'date' ? 'date' : 'string';
}

const unique = (words: readonly string[]): readonly string[] => [...new Set(words)];

/** The field in the words of the scorer; undefined where the scorer has nothing to say (yes or no). */
export function askedOf(field: Field): Asked | undefined {
  const form = formOf(field);
  if (form === undefined) return undefined;
  const names = segmentsOf(field.pointer);
  const name = unique(wordsOf(names.at(-1) ?? ''));
  const parents = unique(names.slice(0, -1).flatMap(wordsOf));
  const about = unique(field.about.flat().map(stemOf).slice(0, 40));
  const calls = [...field.phrases, ...field.terms.calls.map(({ words }) => words)];
  const phrases = calls
    .map((words) => words.map(stemOf))
    .filter(({ length }) => length > 0 && length <= PHRASE_WORDS_MAX);
  return {
    field,
    form,
    name,
    parents,
    phrases,
    all: unique([...name, ...parents, ...about]),
    known: field.concept === undefined ? [] : phrasesOf(field.concept.id),
    wants: sureness(field),
    depth: names.length,
  };
}

const sureness = ({ kind, wants }: Field): Asked['wants'] =>
  Object.fromEntries(
    WANTS.map((look) => {
      if (look === kind || wants.name.has(LOOKS[look])) return [look, 1];
      return [look, wants.all.has(LOOKS[look]) ? 0.5 : 0];
    }),
  ) as unknown as Asked['wants'];
