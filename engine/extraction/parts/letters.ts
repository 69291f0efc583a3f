import type { Field } from '../fields/fields.ts';
import { isSentence } from '../form/printed.ts';
import { isName } from '../parties/partyNames.ts';
import { postalLine } from '../parties/postal.ts';
import { below } from '../form/neighbours.ts';
import type { Layout, Segment } from '../places/layout.ts';
import { shapeOf } from '../singles/shapes.ts';
import type { Draft } from '../singles/values.ts';
import type { Source } from '../source.ts';
import { asks, asksOnly } from '../fields/wants.ts';
import { isOrganization, personAt, personIn } from './people.ts';
import { once } from '../../kernel/once.ts';
import { spelledAlike } from '../words/alike.ts';
import { termsIn } from '../fields/terms.ts';
import { lexicon } from '../words/lexicon.ts';

const SALUTATION = new RegExp(`^${lexicon.parts.salutations.pattern}(?![\\p{L}\\p{N}]).{0,60}$`, 'iu');
const CLOSING = new RegExp(`^${lexicon.parts.closings.pattern}[,.!]?$`, 'iu');

/** What a letter says of a field by its place: whom it is for, who signed it and as what. */
export function letterOffers(field: Field, source: Source): readonly Draft[] {
  const shape = shapeOf(field);
  if (shape !== 'text' && shape !== 'name') return [];
  const { segments } = source.layout;
  return [
    ...(asksOnly(field, 'recipient') ? recipients(segments) : []),
    ...(asks(field, 'signer') || asks(field, 'office') ? signatures(field, source) : []),
    ...titled(field, source),
  ];
}

const whole = (segment: Segment, text = segment.text): Omit<Draft, 'score' | 'kind'> => {
  const from = Math.max(0, segment.text.indexOf(text));
  return { segment, from, to: from + text.length, text, value: text, strictness: 0.6 };
};

/** Lines from the town of an address up to the name above it. */
const BLOCK_LINES_MAX = 7;
const SALUTATION_WITHIN = 60;

/** The name at the top of the last address before the salutation. */
function recipients(segments: readonly Segment[]): readonly Draft[] {
  const end = segments.slice(0, SALUTATION_WITHIN * 2).findLastIndex(({ text }) => SALUTATION.test(text));
  const before = segments.slice(Math.max(0, end - SALUTATION_WITHIN), Math.max(0, end));
  const towns = before.filter(({ text }) => postalLine(text) !== undefined && !/[·•|]/.test(text));
  const town = towns.at(-1);
  if (town === undefined) return [];
  const block = blockAbove(town, before);
  const name = block.find(
    ({ text }) => isName(text) && (isOrganization(text) || personIn(text) !== undefined),
  );
  if (name === undefined) return [];
  return [{ ...whole(name, personIn(name.text) ?? name.text), kind: 'head', score: 0.97 }];
}

/** The lines above a town that begin where it begins, without a gap, from the top. */
function blockAbove(town: Segment, before: readonly Segment[]): readonly Segment[] {
  const block = [town];
  for (const one of [...before].reverse()) {
    const [top] = block;
    if (top === undefined || one.row >= top.row || Math.abs(one.x0 - top.x0) > 8) continue;
    if (block.length > BLOCK_LINES_MAX || top.y0 - one.y1 > 0.9 * (top.y1 - top.y0)) break;
    block.unshift(one);
  }
  return block;
}

const SIGNATURE_LINES = 8;
const CLOSINGS_MAX = 4;
const CLOSING_CHARACTERS = 60;

const closingsOf = once(({ layout: { segments } }: Source) =>
  segments
    .filter(({ text }) => text.length < CLOSING_CHARACTERS && CLOSING.test(text.trim()))
    .slice(0, CLOSINGS_MAX),
);

/** A letter or receipt without a formula ends with its date line, or with a name. */
const TAIL = 3;

const endsOf = (source: Source): readonly Segment[] => {
  const closings = closingsOf(source);
  const { segments } = source.layout;
  return closings.length > 0 ? closings : segments.slice(-TAIL - 1, -TAIL);
};

/** "/s/ Jane Doe" stands for a signature in what is filed with authorities of the United States. */
const typedSignature = (segment: Segment): readonly Draft[] => {
  const name = personIn(/^\/s\/\s?(.{3,60})$/u.exec(segment.text)?.[1] ?? '');
  return name === undefined ? [] : [{ ...whole(segment, name), kind: 'closing', score: 0.97 }];
};

/** Where a name was typed as a signature; else below a closing formula stand the name and what the signer is. */
function signatures(field: Field, source: Source): readonly Draft[] {
  const { segments } = source.layout;
  const isSigner = asks(field, 'signer') && !asks(field, 'office');
  const typed = isSigner ? segments.flatMap(typedSignature).slice(0, 1) : [];
  if (typed.length > 0) return typed;
  return endsOf(source).flatMap(({ index, page }): readonly Draft[] => {
    const after = segments.slice(index + 1, index + 1 + SIGNATURE_LINES).filter((one) => one.page === page);
    const at = after.findIndex(({ text }) => personIn(text) !== undefined);
    const [line, next] = [after[at], after[at + 1]];
    if (line === undefined) return [];
    if (isSigner) return [{ ...whole(line, personIn(line.text)), kind: 'closing', score: 0.97 }];
    const isRole = next !== undefined && isRoleText(next) && next.y0 > line.y0 && asks(field, 'office');
    return isRole
      ? [{ ...whole(next), kind: 'closing', score: asksOnly(field, 'office') ? 0.87 : 0.97 }]
      : [];
  });
}

const TITLED = /^(.{4,60}?),\s(\p{Lu}[^,]{3,60})$/u;
const SAYS_TITLE = 0.95;

/** A person's name and, in folded words, what the person is. */
interface Titled {
  readonly segment: Segment;
  readonly name: string;
  readonly title: readonly string[];
  readonly kind: Draft['kind'];
}

/** Persons that are looked at: each is held against each field. */
const TITLED_MAX = 500;

/** Persons with what they are: behind their name, on a line of its own below it, or before it. */
const titledIn = once(({ layout }: Source) => {
  const found: Titled[] = [];
  for (const segment of layout.segments) {
    found.push(...titleBehind(segment), ...titleBelow(segment, layout), ...titleBefore(segment));
    if (found.length >= TITLED_MAX) return found.slice(0, TITLED_MAX);
  }
  return found;
});

/** "Marlene Sykes, Notary Public". */
function titleBehind(segment: Segment): readonly Titled[] {
  const [, before = '', title = ''] = TITLED.exec(segment.text) ?? [];
  const name = personIn(before);
  return name === undefined ? [] : [{ segment, name, title: termsIn(title), kind: 'inline' }];
}

const OFFICE = new RegExp(`(?<![\\p{L}\\p{N}])${lexicon.parts.offices.pattern}(?![\\p{L}\\p{N}])`, 'giu');
/** Heights of a line to what stands right below it. */
const LEADING = 0.8;

/** The name, and below it an office: "Bill de Blasio", "Mayor". */
function titleBelow(segment: Segment, layout: Layout): readonly Titled[] {
  const name = personIn(segment.text);
  if (name === undefined) return [];
  const title = below(segment, layout, LEADING * (segment.y1 - segment.y0));
  if (title === undefined || title.text.search(OFFICE) < 0) return [];
  return isShort(title) ? [{ segment, name, title: termsIn(title.text), kind: 'closing' }] : [];
}

/** Words of a title that stand before its office: "Board President". */
const BEFORE_OFFICE = /(?:\p{Lu}[\p{L}-]{1,20}\s){0,2}$/u;
/** Characters that such words may have. */
const BEFORE_MAX = 44;
/** Offices in one text that are looked at. */
const OFFICES_MAX = 500;

/** "Superintendent Wendy Gudalewicz", wherever it stands in a text. */
function titleBefore(segment: Segment): readonly Titled[] {
  const { text } = segment;
  return [...text.matchAll(OFFICE)]
    .slice(0, OFFICES_MAX)
    .flatMap(({ 0: office, index }): readonly Titled[] => {
      const end = index + office.length;
      if (!/^\p{Lu}/u.test(office) || text[end] !== ' ') return [];
      const name = personAt(text, end + 1);
      if (name === undefined) return [];
      const before = BEFORE_OFFICE.exec(text.slice(Math.max(0, index - BEFORE_MAX), index))?.[0] ?? '';
      return [{ segment, name, title: termsIn(`${before}${office}`), kind: 'inline' }];
    });
}

/** The person whose title says the field; of two persons neither. */
function titled({ terms }: Field, source: Source): readonly Draft[] {
  const found = titledIn(source).filter(({ title }) =>
    terms.name.every((word) => title.some((other) => spelledAlike(word, other) > 0)),
  );
  if (new Set(found.map(({ name }) => name)).size > 1) return [];
  return found.map(({ segment, name, kind }) => ({ ...whole(segment, name), kind, score: SAYS_TITLE }));
}

const isShort = ({ text }: Segment): boolean =>
  text.length < 60 && !/[\d@:]/.test(text) && /\p{L}{3}/u.test(text) && !isSentence(text);

const isRoleText = (line: Segment): boolean => isShort(line) && !isOrganization(line.text);
