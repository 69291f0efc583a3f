import type { Field } from '../fields/fields.ts';
import { confidenceOf, type Finding } from '../finding.ts';
import { beforeBoxes, opensBox, overBoxes, type Box } from '../form/boxes.ts';
import { below } from '../form/neighbours.ts';
import { folded } from '../../kernel/text.ts';
import { says } from '../words/says.ts';
import { ALIKE, spelledAlike } from '../words/alike.ts';
import { termsIn, weightOf } from '../fields/terms.ts';
import { wordsIn } from '../places/layout.ts';
import type { Source } from '../source.ts';
import { choiceIn, yesOrNo } from '../texts.ts';
import { labelIndexOf } from './labelIndex.ts';
import type { Draft } from './values.ts';
import { impliedBy } from './shapes.ts';

/** What boxes say: of a boolean the box with its name, of a choice the one option that is ticked. */
export function tickedFor(field: Field, source: Source): readonly Draft[] {
  if (field.type === 'boolean') return named(field, source);
  return field.choices.length === 0 ? [] : tickedChoice(field, source);
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
  const found = bySayings(field, boxes, source);
  return found.length > 0 ? found : [...answered(field, boxes, source), ...onlySaying(field, boxes)];
}

/** Of a question with the boxes yes and no, the answer that is ticked. */
function answered(field: Field, boxes: readonly Box[], source: Source): readonly Draft[] {
  return boxes.flatMap((box): readonly Draft[] => {
    const answer = box.isTicked ? yesOrNo(box.text) : undefined;
    if (answer === undefined) return [];
    const score = scoreOf(field, questionOf(box, source));
    return score < ASKED ? [] : [{ ...draftOf(box), value: answer, score, kind: 'box' }];
  });
}

/** Texts of a row that a question is looked for in. */
const TEXTS_MAX = 12;

/** What stands before the first box of a row. */
function questionOf({ segment }: Box, { layout }: Source): string {
  const row = layout.rows[segment.row]?.segments.slice(0, TEXTS_MAX) ?? [];
  const first = row.findIndex(({ text }) => beforeBoxes(text) !== undefined);
  return row
    .slice(0, first + 1)
    .map(({ text }) => beforeBoxes(text) ?? text)
    .join(' ');
}

/** A question is longer than the name of what it asks for. */
const ASKED = 0.6;

const SENTENCE_SAYS = 0.86;

/** The only box whose text has the words that make the field's name: "I agree to photos" for `photos_allowed`. */
function onlySaying({ terms: { name } }: Field, boxes: readonly Box[]): readonly Draft[] {
  const telling = name.filter((word) => weightOf(word) === 1);
  const saying = boxes.filter(({ text }) => {
    const words = termsIn(text);
    const said = telling.filter((word) => words.some((other) => spelledAlike(word, other) >= ALIKE));
    return said.length > 0 && 2 * said.length >= telling.length;
  });
  const [only, ...others] = saying;
  if (only === undefined || others.length > 0 || telling.length === 0) return [];
  return [{ ...draftOf(only), value: only.isTicked, score: SENTENCE_SAYS, kind: 'box' }];
}

function bySayings(field: Field, boxes: readonly Box[], source: Source): readonly Draft[] {
  return boxes.flatMap((box): readonly Draft[] => {
    const score = Math.max(...textsOf(box, source).map((text) => scoreOf(field, text)));
    return score < SAYS ? [] : [{ ...draftOf(box), value: box.isTicked, score, kind: 'box' }];
  });
}

const scoreOf = (field: Field, text: string): number =>
  says({ label: termsIn(text), context: [], implied: impliedBy('boolean') }, field.terms);

/** The text of a box, alone, with its second line, and with what stands first in its row. */
function textsOf({ text, segment: at, value: { segment } }: Box, { layout }: Source): readonly string[] {
  const more = below(segment, layout, segment.y1 - segment.y0);
  const [first] = yesOrNo(text) === undefined ? (layout.rows[at.row]?.segments ?? []) : [];
  const named = first === undefined || first === at || opensBox(first.text) ? [] : [`${first.text} ${text}`];
  return [text, ...named, ...(more === undefined || opensBox(more.text) ? [] : [`${text} ${more.text}`])];
}

interface Options {
  readonly all: readonly Option[];
  readonly ticked: readonly Option[];
}

interface Option {
  readonly box: Box;
  readonly choice: string;
}

/** The boxes whose texts say a choice: those of the question that asks for the field best, where one does. */
function optionsOf(field: Field, source: Source): Options {
  const options = labelIndexOf(source).boxes.flatMap((box) => {
    const text = folded(box.text);
    const choice = choiceIn(field, box.text) ?? field.choices.find((one) => text.startsWith(folded(one)));
    return choice === undefined ? [] : [{ box, choice, score: askedBy(field, box, source) }];
  });
  const best = Math.max(...options.map(({ score }) => score));
  const all = best < ASKED ? options : options.filter(({ score }) => score >= best);
  return { all, ticked: all.filter(({ box }) => box.isTicked) };
}

/** How well the question of a box asks for a field: what stands before the boxes of its row, or above them. */
function askedBy(field: Field, box: Box, source: Source): number {
  const over = overBoxes(box.segment, source.layout);
  return Math.max(
    scoreOf(field, questionOf(box, source)),
    over === undefined ? 0 : scoreOf(field, over.text),
  );
}

const isOfSeveral = ({ all }: Options): boolean => new Set(all.map(({ choice }) => choice)).size > 1;

/** Options of one question stand together: two of them with boxes make it the question. */
function tickedChoice(field: Field, source: Source): readonly Draft[] {
  const options = optionsOf(field, source);
  const [only] = options.ticked;
  if (only === undefined || new Set(options.ticked.map(({ choice }) => choice)).size > 1) return [];
  return [{ ...draftOf(only.box), value: only.choice, score: isOfSeveral(options) ? 1 : 0.8, kind: 'box' }];
}

/** Of a list of choices all that are ticked; undefined where the choices have no boxes. */
export function tickedChoices(field: Field, source: Source): readonly Finding[] | undefined {
  const options = field.choices.length === 0 ? { all: [], ticked: [] } : optionsOf(field, source);
  if (!isOfSeveral(options)) return undefined;
  return options.ticked.map(
    ({
      box: {
        text,
        value: { segment, from, to },
      },
      choice,
    }) => {
      const words = wordsIn(segment, from, to);
      const confidence = confidenceOf({ label: 1, strictness: 1, margin: 0.3, agreement: 0 }, words);
      return { value: choice, text, page: segment.page, words, confidence };
    },
  );
}
