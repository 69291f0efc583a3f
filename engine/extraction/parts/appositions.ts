import { folded } from '../fields/words.ts';
import type { Field } from '../fields/fields.ts';
import { above } from '../form/neighbours.ts';
import { likeWord } from '../matching/likeness.ts';
import { termsIn, weightOf } from '../matching/terms.ts';
import type { Segment } from '../places/layout.ts';
import { labelIndexOf } from '../singles/labelIndex.ts';
import type { Draft } from '../singles/offer.ts';
import type { Source } from '../source.ts';
import { CIVILITY, isOrganization, isRole, PERSON, personIn, withoutCivility } from './people.ts';

const ALIKE = 0.85;
/** A name stands no further from what its person is. */
const REACH = 110;

const NAME_AFTER: readonly RegExp[] = [
  new RegExp(`^[,:]?\\s${CIVILITY}(${PERSON})`, 'u'),
  new RegExp(`^\\s\\p{Ll}[\\p{L}’']{1,20},?\\s${CIVILITY}(${PERSON})`, 'u'),
  new RegExp(`^\\s\\p{Ll}[^,;.:()]{1,60}[,:]\\s${CIVILITY}(${PERSON})`, 'u'),
];
const NAME_BEFORE = new RegExp(`(${PERSON})(?:,\\s|\\s\\(|\\s[–-]\\s)(?:[\\p{L}’'-]{1,20}\\s){0,3}$`, 'u');

/**
 * Persons that the text names right beside what they are: "Superintendent Ann Lee", "Ann Lee, the artistic
 * director", or what they are on the line below the name.
 */
export function appositions(field: Field, source: Source): readonly Draft[] {
  const roles = rolesOf(field);
  if (roles.length === 0 || field.type !== 'string' || field.choices.length > 0) return [];
  return labelIndexOf(source)
    .speaking(field.terms)
    .flatMap((segment) => apposed(field, { segment, roles }, source));
}

/** What the field's name says that someone is. */
const rolesOf = ({ terms: { name, all } }: Field): readonly string[] => {
  const own = name.filter(isRole);
  return own.length > 0 ? own : NAMED.some((word) => name.includes(word)) ? [...all].filter(isRole) : [];
};
const NAMED = ['name', 'nom', 'nombre', 'nome', 'naam', 'jmeno', 'by'];

interface Spoken {
  readonly segment: Segment;
  readonly roles: readonly string[];
}

const WORDS_MAX = 400;

function apposed(field: Field, { segment, roles }: Spoken, source: Source): readonly Draft[] {
  const words = [...segment.text.matchAll(/[\p{L}’'-]{3,}/gu)].slice(0, WORDS_MAX);
  return words.flatMap(({ 0: word, index }): readonly Draft[] => {
    const said = folded(word);
    if (!roles.some((role) => likeWord(role, said) >= ALIKE)) return [];
    const place = nameBeside(segment, { from: index, to: index + word.length }, source);
    if (place === undefined) return [];
    const score = shareSaid(field, segment.text.slice(Math.max(0, index - REACH), index + REACH));
    return score < 0.5 ? [] : [{ ...place, value: place.text, kind: 'apposed', strictness: 0.8, score }];
  });
}

type Named = Pick<Draft, 'segment' | 'from' | 'to' | 'text'>;

function nameBeside(
  segment: Segment,
  { from, to }: { readonly from: number; readonly to: number },
  source: Source,
): Named | undefined {
  const rest = segment.text.slice(to, to + REACH);
  for (const shape of NAME_AFTER) {
    const match = shape.exec(rest);
    if (match?.[1] !== undefined) return namedAt(segment, to + match[0].length - match[1].length, match[1]);
  }
  const start = Math.max(0, from - REACH);
  const before = NAME_BEFORE.exec(segment.text.slice(start, from));
  if (before?.[1] !== undefined) return namedAt(segment, start + before.index, before[1]);
  return from < ROLE_STARTS ? lineAbove(segment, source) : undefined;
}

/** Below a name stands at once what its person is. */
const ROLE_STARTS = 20;
const LINE = 0.8;

function lineAbove(segment: Segment, { layout }: Source): Named | undefined {
  const [line] = above(segment, layout);
  if (line === undefined || segment.y0 - line.y1 > LINE * (segment.y1 - segment.y0)) return undefined;
  const name = personIn(line.text);
  return name === undefined ? undefined : namedAt(line, line.text.indexOf(name), name);
}

function namedAt(segment: Segment, at: number, said: string): Named | undefined {
  const text = withoutCivility(said);
  const from = at + said.length - text.length;
  const isPerson = !isOrganization(text) && !text.split(' ').some((word) => isRole(folded(word)));
  return isPerson ? { segment, from, to: from + text.length, text } : undefined;
}

/** The share of the field's own words that the text has. */
function shareSaid({ terms: { name } }: Field, text: string): number {
  const around = termsIn(text);
  let [all, said] = [0, 0];
  for (const word of name.filter((one) => one !== 'by')) {
    all += weightOf(word);
    if (weightOf(word) < 1) said += weightOf(word);
    else said += around.reduce((most, other) => Math.max(most, likeWord(word, other)), 0);
  }
  return all === 0 ? 0 : said / all;
}
