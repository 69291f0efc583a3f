import type { Field } from '../fields/fields.ts';
import { isSentence } from '../form/printed.ts';
import { opensBox, type Box } from '../form/boxes.ts';
import { below } from '../form/neighbours.ts';
import { folded } from '../fields/words.ts';
import { likeness } from '../matching/likeness.ts';
import { termsIn } from '../matching/terms.ts';
import type { Segment } from '../places/layout.ts';
import type { Source } from '../source.ts';
import { choiceIn } from '../texts.ts';
import { labelIndexOf } from './labelIndex.ts';
import type { Draft } from './offer.ts';
import { impliedBy } from './shapes.ts';

/** What boxes say: of a boolean the box with its name, of a choice the one option that is ticked. */
export function tickedFor(field: Field, source: Source): readonly Draft[] {
  if (field.type === 'boolean') return named(field, source);
  if (field.choices.length === 0) return [];
  const ticked = tickedChoice(field, source);
  return ticked.length > 0 ? ticked : standing(field, source);
}

const draftOf = ({ segment, from, to }: Box): Omit<Draft, 'value' | 'score' | 'kind'> => ({
  segment,
  from,
  to,
  text: segment.text.slice(from, to).trim(),
  strictness: 1,
});

const SAYS = 0.7;

function named(field: Field, source: Source): readonly Draft[] {
  const { boxes } = labelIndexOf(source);
  return boxes.flatMap((box): readonly Draft[] => {
    const score = Math.max(...textsOf(box, source).map((text) => scoreOf(field, text)));
    return score < SAYS ? [] : [{ ...draftOf(box), value: box.isTicked, score, kind: 'box' }];
  });
}

const scoreOf = (field: Field, text: string): number =>
  likeness(field.terms, { label: termsIn(text), context: [], implied: impliedBy('boolean') });

/** The text of a box, alone and with its second line. */
function textsOf({ text, value: { segment } }: Box, { layout }: Source): readonly string[] {
  const more = below(segment, layout, segment.y1 - segment.y0);
  return more === undefined || opensBox(more.text) ? [text] : [text, `${text} ${more.text}`];
}

/** Options of one question stand together: two of them with boxes make it the question. */
function tickedChoice(field: Field, source: Source): readonly Draft[] {
  const options = labelIndexOf(source).boxes.flatMap((box) => {
    const text = folded(box.text);
    const choice = choiceIn(field, box.text) ?? field.choices.find((one) => text.startsWith(folded(one)));
    return choice === undefined ? [] : [{ box, choice }];
  });
  const ticked = options.filter(({ box }) => box.isTicked);
  const [only] = ticked;
  if (only === undefined || new Set(ticked.map(({ choice }) => choice)).size > 1) return [];
  const score = new Set(options.map(({ choice }) => choice)).size > 1 ? 1 : 0.8;
  return [{ ...draftOf(only.box), value: only.choice, score, kind: 'box' }];
}

const TOGETHER = 0.9;
const ALONE = 0.65;

/** The one choice that stands by itself, or with the field's words alone: "Special Meeting". */
function standing(field: Field, source: Source): readonly Draft[] {
  const own = field.terms.all;
  const found = source.layout.segments.slice(0, SEGMENTS_MAX).flatMap((segment): readonly Draft[] => {
    if (segment.text.length > LENGTH_MAX || isSentence(segment.text)) return [];
    const words = termsIn(segment.text);
    const choice = field.choices.find((one) => isIn(termsIn(one), words));
    if (choice === undefined) return [];
    const others = words.filter((word) => !termsIn(choice).includes(word));
    if (others.some((word) => !own.has(word))) return [];
    return [
      { ...whole(segment), value: choice, score: others.length > 0 ? TOGETHER : ALONE, kind: 'option' },
    ];
  });
  return new Set(found.map(({ value }) => value)).size === 1 ? found.slice(0, 1) : [];
}

const SEGMENTS_MAX = 4000;
const LENGTH_MAX = 60;

const isIn = (choice: readonly string[], words: readonly string[]): boolean =>
  choice.length > 0 && choice.every((word) => words.includes(word));

const whole = (segment: Segment): Omit<Draft, 'value' | 'score' | 'kind'> => ({
  segment,
  from: 0,
  to: segment.text.length,
  text: segment.text,
  strictness: 0.8,
});
