import type { Layout } from '../places/layout.ts';
import { below } from './neighbours.ts';
import type { Pair } from './pair.ts';
import { lexicon } from '../words/lexicon.ts';

type Drawn = Pick<Pair, 'label' | 'value' | 'kind'>;

const IN_LABELS = /\s?\/\s?|\s[–—&-]\s/u;
const IN_VALUES = /\s[/–—&-]\s/gu;

/** A side of a value without digits is a code or a mark: "27 YRS / M". */
const MARK_MAX = 6;

/**
 * "Contract / Revision" with "953807 / 1": each side of a joined label has its side of a joined value. A side has
 * digits, and the other as well or few letters, for a name may be said in two languages beside a label that is.
 */
export function sidesOf<D extends Drawn>(draft: D): readonly D[] {
  const { segment, from, to } = draft.value;
  const labels = draft.label.split(IN_LABELS);
  const [mark, ...others] = [...segment.text.slice(from, to).matchAll(IN_VALUES)];
  if (labels.length !== 2 || mark === undefined || others.length > 0) return [draft];
  const sides = [
    { segment, from, to: from + mark.index },
    { segment, from: from + mark.index + mark[0].length, to },
  ];
  const texts = sides.map((side) => segment.text.slice(side.from, side.to));
  const isJoined =
    labels.every((label) => /\p{L}{2}/u.test(label)) &&
    texts.some((text) => /\d/.test(text)) &&
    texts.every((text) => /\d/.test(text) || text.trim().length <= MARK_MAX);
  return isJoined ? sides.map((value, i) => ({ ...draft, label: labels[i] ?? '', value })) : [draft];
}

/** A question, and what it asks of whom. */
const QUESTION = /\?\s*$/u;
const OF_WHOM = new RegExp(`\\s(${lexicon.forms.of_whom.pattern}\\s?\\p{L}.*)\\?\\s*$`, 'u');
const FIRST = /^\s*(\p{Lu}\p{Ll}{2,15}|(?:\p{L} ){3,8}\p{L}(?!\S))\s+(?=\S)/u;

/** "What is the name and address of the owner?" over "Name Ada Low": the value repeats which of both it answers. */
export function namedAgain<D extends Drawn>(draft: D): D {
  const { segment, from, to } = draft.value;
  const [start = '', word = ''] = FIRST.exec(segment.text.slice(from, to)) ?? [];
  const said = word.replace(/\s/g, '');
  const [, whom = ''] = OF_WHOM.exec(draft.label) ?? [];
  const isAsked =
    said !== '' &&
    QUESTION.test(draft.label) &&
    draft.label
      .toLowerCase()
      .split(/[^\p{L}]+/u)
      .includes(said.toLowerCase());
  if (!isAsked) return draft;
  return {
    ...draft,
    label: `${said} ${whom}`,
    value: { segment, from: from + start.length, to },
    kind: 'right',
  };
}

/** "Insured name and address", "Owner's name, address and postal code", with whose they are before or after. */
const NAME_AND_ADDRESS = new RegExp(
  `^(.{0,40}?(?<!\\p{L})${lexicon.forms.name_words.pattern})(?:,\\s?|\\s?,?\\s${lexicon.forms.joints.pattern}\\s)` +
    `(?:\\p{L}+\\s)?(${lexicon.forms.address_words.pattern})(?!\\p{L})(.{0,40})$`,
  'iu',
);
const OF_WHOM_AFTER = new RegExp(`^\\s${lexicon.forms.of_whom.pattern}\\s\\p{L}`, 'u');

/** Heights of a line that the lines of one block stand apart at most. */
const BLOCK_LEADING = 1.2;

/** A label of a name and an address names the first line of its block, and the lines below that. */
export function nameAndAddress<D extends Drawn>(draft: D, layout: Layout): readonly D[] {
  const match = NAME_AND_ADDRESS.exec(draft.label.replace(/\s?:\s*$/u, ''));
  const { segment, to } = draft.value;
  if (match === null || to < segment.text.length) return [draft];
  const next = below(segment, layout, BLOCK_LEADING * (segment.y1 - segment.y0));
  if (next === undefined || next.text.includes(':')) return [draft];
  const [, named = '', addressed = '', rest = ''] = match;
  const whom = OF_WHOM_AFTER.test(rest) ? rest : '';
  const owner = named.replace(new RegExp(`${lexicon.forms.name_words.pattern}$`, 'iu'), '');
  const value = { segment: next, from: 0, to: next.text.length };
  return [
    { ...draft, label: `${named}${whom}` },
    { ...draft, label: `${owner}${addressed}${whom}`, value },
  ];
}
