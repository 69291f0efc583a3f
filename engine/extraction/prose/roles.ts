import type { Field } from '../fields/fields.ts';
import { textFinding, type Finding } from '../finding.ts';
import { termsIn, weightOf } from '../fields/terms.ts';
import { isOrganization } from '../parts/people.ts';
import { overlap, type Segment } from '../places/layout.ts';
import type { Source } from '../source.ts';
import { proseOf, type Prose, type Span } from './prose.ts';
import { findingFor, HAS_FORM, knownParties, nameAt } from './proseParties.ts';
import { once } from '../../kernel/once.ts';
import { lexicon, type WordList } from '../words/lexicon.ts';

/** What a field asks a party to be: "borrower", "administrative agent". */
export interface AskedRole {
  /** The words of its name that say it. */
  readonly own: readonly string[];
  /** Its names in seven languages; undefined of a role that is not known. */
  readonly names: WordList | undefined;
}

/** Roles and their names in seven languages, folded. */
const ROLE_SETS = Object.values(lexicon.party_roles);

/** The role that a field's own words name. */
export const roleOf = ({ phrases, terms: { name } }: Field): AskedRole => ({
  own: name.filter((word) => weightOf(word) === 1).map(singular),
  names: ROLE_SETS.find((role) => phrases.some((words) => words.some((word) => role.has(singular(word))))),
});

const singular = (word: string): string =>
  word.length > 4 && !word.endsWith('ss') ? word.replace(/s$/, '') : word;

/** A role may have one word more than the field's name: "Joint Lead Arrangers". */
const MORE_WORDS = 1;

function saysRole({ own, names }: AskedRole, said: readonly string[]): boolean {
  const words = said.map(singular);
  if (own.length > 0 && words.length <= own.length + MORE_WORDS && own.every((word) => words.includes(word)))
    return true;
  return names !== undefined && words.length <= 1 + MORE_WORDS && words.some((word) => names.has(word));
}

/** The one party that the document gives a role: by "as" below its name, else in the preamble. */
export function partyInRole(prose: Prose, role: AskedRole, source: Source): Finding | undefined {
  const [named] = namedAs(role, source);
  if (named !== undefined) return named;
  const { names } = role;
  const parties = knownParties(prose);
  const called = parties.filter(({ name }) =>
    aliasesAfter(prose.text, name).some((alias) => saysRole(role, alias)),
  );
  const about = parties.filter(
    (party) => names !== undefined && party.about.split(/[^\p{L}\p{N}]+/u).some((word) => names.has(word)),
  );
  const fitting = called.length > 0 ? called : about;
  const [only] = fitting;
  return fitting.length === 1 && only !== undefined ? findingFor(prose, only) : undefined;
}

const ALIAS_CHARACTERS = 240;
const ALIAS = /\([^()]{0,60}["“„«]([^"”“»]{2,40})["”»][^()]{0,60}\)/u;

/** What a preamble calls a party: `(the "Borrower")`, "as Administrative Agent". */
function aliasesAfter(text: string, { to }: Span): readonly (readonly string[])[] {
  const after = text.slice(to, to + ALIAS_CHARACTERS).split(/[;.]\s/u)[0] ?? '';
  const called = ALIAS.exec(after)?.[1];
  const as = CAPACITY.exec(after.replace(/^[\s,]+/, ''))?.[1] ?? '';
  return [...(called === undefined ? [] : [termsIn(called)]), ...rolesIn(as)];
}

/** The parties that have a role, where it is told of several: below each other, or in a column. */
export function partiesInRole(role: AskedRole, source: Source): readonly Finding[] {
  const named = namedAs(role, source);
  if (named.length > 1) return named;
  const column = columnOf(role, source);
  return column.length > 0 ? column : named;
}

/** Names below each other, and what the line below them says that they are. */
interface Capacity {
  readonly names: readonly Segment[];
  roles: readonly (readonly string[])[];
}

const CAPACITY =
  /^(?:as|als|en tant que|en qualité de?|in qualità di|en calidad de|como)\s(?:(?:an?|the|its)\s)?(.{3,120})/iu;
const AND = '(?:and|und|et|y|e|en)';
const IS_AND = new RegExp(`^(?:${AND}|&)$`, 'iu');
const GOES_ON = new RegExp(`^${AND}\\s`, 'iu');

const rolesIn = (text: string): readonly (readonly string[])[] =>
  text
    .split(new RegExp(`,|\\s${AND}\\s`, 'iu'))
    .map((part) => termsIn(part))
    .filter(({ length }) => length > 0 && length < 6);

const NAME_CHARACTERS = 120;
const JOINT_AFTER = new RegExp(`\\s${AND}$`, 'iu');

const isOfOrganization = (text: string): boolean => HAS_FORM.test(text) || isOrganization(text);

/** A line that is the name of an organization, and nothing else but "and" or a comma. */
function isNameLine({ text }: Segment): boolean {
  if (text.length > NAME_CHARACTERS) return false;
  const bare = text.replace(JOINT_AFTER, '').replace(/,$/, '');
  return nameAt(bare, 0)?.to === bare.length && isOfOrganization(bare);
}

const LINES_MAX = 30_000;
const NAMES_MAX = 40;

const ROLES_MAX = 8;
const ROLE_WORDS_MAX = 3;

/** The roles that a document says parties have, each once, and whether several have it. */
export function rolesSaid(source: Source): readonly { readonly role: string; readonly isSeveral: boolean }[] {
  const prose = proseOf(source);
  const called =
    prose === undefined ? [] : knownParties(prose).flatMap(({ name }) => aliasOf(prose.text, name));
  const roles = new Map(called.map((role) => [role, false]));
  for (const { names, roles: said } of capacitiesOf(source))
    for (const words of said.filter(({ length }) => length <= ROLE_WORDS_MAX))
      roles.set(words.join(' '), names.length > 1 || roles.get(words.join(' ')) === true);
  return [...roles].slice(0, ROLES_MAX).map(([role, isSeveral]) => ({ role, isSeveral }));
}

const aliasOf = (text: string, name: Span): readonly string[] =>
  aliasesAfter(text, name).map((words) => words.join(' '));

/** Covers and signatures: lines of names, then "as Joint Lead Arrangers". Made once for a document. */
const capacitiesOf = once(capacitiesIn);

function capacitiesIn(source: Source): readonly Capacity[] {
  const found: Capacity[] = [];
  let names: readonly Segment[] = [];
  let open: Capacity | undefined;
  for (const segment of source.layout.segments.slice(0, LINES_MAX)) {
    if (isMargin(segment, source)) continue;
    if (open !== undefined && GOES_ON.test(segment.text))
      open.roles = [...open.roles, ...rolesIn(segment.text)];
    open = capacityAt(segment, names);
    if (open !== undefined) found.push(open);
    if (isNameLine(segment)) names = [...names, segment].slice(-NAMES_MAX);
    else if (!IS_AND.test(segment.text)) names = [];
  }
  return found;
}

function capacityAt({ text }: Segment, names: readonly Segment[]): Capacity | undefined {
  const as = names.length > 0 ? CAPACITY.exec(text)?.[1] : undefined;
  return as === undefined ? undefined : { names, roles: rolesIn(as) };
}

/** The first and the last line of a page that have a number go through the text: they are no part of it. */
const isMargin = ({ row, page }: Segment, { layout: { rows } }: Source): boolean =>
  (rows[row - 1]?.page !== page || rows[row + 1]?.page !== page) &&
  (rows[row]?.segments ?? []).some(({ text }) => /\d/.test(text));

const STATED = { label: 0.9, strictness: 0.8, margin: 0.3, agreement: 0, kind: 'prose' } as const;

/** The names above "as Borrower", where a role that is asked for stands so. */
export const namedAs = (role: AskedRole, source: Source): readonly Finding[] =>
  capacitiesOf(source)
    .find(({ roles }) => roles.some((one) => saysRole(role, one)))
    ?.names.flatMap((segment) => {
      const name = nameAt(segment.text, 0);
      return (name && textFinding([{ segment, ...name }], STATED)) ?? [];
    }) ?? [];

const HEADS_MAX = 24;
const HEAD_CHARACTERS = 40;
const COLUMN_LINES_MAX = 120;
const ENTRIES_MIN = 3;

/** The names in the column of a table whose head says the role: "Name of Bank | Commitment". */
function columnOf(role: AskedRole, source: Source): readonly Finding[] {
  const heads = source.layout.segments.filter(
    ({ text }) =>
      text.length < HEAD_CHARACTERS &&
      !/[.,;:]$/.test(text) &&
      !CAPACITY.test(text) &&
      saysRole(role, termsIn(text)),
  );
  for (const head of heads.slice(0, HEADS_MAX)) {
    const entries = entriesBelow(head, source);
    const named = entries.filter((lines) => lines.some(({ text }) => isOfOrganization(text)));
    if (entries.length < ENTRIES_MIN || named.length * 2 <= entries.length) continue;
    return entries.flatMap(
      (lines) =>
        textFinding(
          lines.map((segment) => ({ segment, from: 0, to: segment.text.length })),
          STATED,
        ) ?? [],
    );
  }
  return [];
}

const ENDS = /^[^\p{Lu}\d]|\d{3}|[:;]$|^(?:[Tt]otal|TOTAL|Gesamt|Summe)(?!\p{L})/u;

/** What stands in one column below its head, on as many pages as it goes over: the lines of each entry. */
function entriesBelow(head: Segment, source: Source): readonly (readonly Segment[])[] {
  const below = source.layout.segments
    .slice(head.index + 1, head.index + COLUMN_LINES_MAX)
    .filter((one) => one.row !== head.row && !isMargin(one, source));
  const first = below.find((one) => overlap(one, head) > IN_COLUMN);
  const column = first === undefined ? [] : below.filter((one) => overlap(one, first) > IN_COLUMN);
  const end = column.findIndex(({ text }) => ENDS.test(text));
  const entries: Segment[][] = [];
  for (const [i, segment] of column.slice(0, end < 0 ? column.length : end).entries()) {
    const last = column[i - 1];
    if (last === undefined || opensEntry(segment, last, source)) entries.push([segment]);
    else entries.at(-1)?.push(segment);
  }
  return entries;
}

const IN_COLUMN = 0.15;

/** On another page, after a gap, or with a number in its row. */
const opensEntry = (segment: Segment, last: Segment, { layout: { rows } }: Source): boolean =>
  segment.page !== last.page ||
  segment.words[0]?.box === null ||
  segment.y0 - last.y1 > segment.y1 - segment.y0 ||
  (rows[segment.row]?.segments ?? []).some((other) => other !== segment && /\d/.test(other.text));
