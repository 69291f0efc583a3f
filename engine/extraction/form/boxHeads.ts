import type { Segment } from '../places/layout.ts';
import type { Pair } from './pair.ts';
import { isSmaller, looksLike } from './look.ts';

/** So many small labels of one size above their values make a page a form of boxes. */
const HEADS_MIN = 3;

/** The boxes of a form: small labels at their tops, and the values below them. */
export interface BoxHeads {
  /** Whether a label is the small head of a box. */
  readonly isHead: (segment: Segment) => boolean;
  /** Whether a text can be no heading of the label of a box: the label or the value of another one. */
  readonly isOfBox: (text: Segment, label: Segment) => boolean;
}

/** A date or a longer number is a value in small letters, and no label. */
const HAS_VALUE = /\d{3}/;

type Drawn = Pick<Pair, 'label' | 'at' | 'value' | 'kind'>;

/** Whether a label stands in small letters above what it names. */
export const isSmallHead = ({ at, value, kind }: Pick<Drawn, 'at' | 'value' | 'kind'>): boolean =>
  kind === 'below' && isSmaller(at, value.segment);

/** The boxes of a document, by labels that come at least three times a page in letters of one size. */
export function boxHeadsOf(drafts: readonly Drawn[]): BoxHeads {
  const small = drafts.filter((draft) => isSmallHead(draft) && !HAS_VALUE.test(draft.label));
  const counts = new Map<string, number>();
  for (const { at } of small) counts.set(sizeKey(at), (counts.get(sizeKey(at)) ?? 0) + 1);
  const boxed = small.filter(({ at }) => (counts.get(sizeKey(at)) ?? 0) >= HEADS_MIN);
  const heads = new Set(boxed.map(({ at }) => at));
  const values = new Set(boxed.map(({ value }) => value.segment));
  return {
    isHead: (segment) => heads.has(segment),
    isOfBox: (text, label) =>
      heads.has(label) && (values.has(text) || looksLike(text, label) || isSmaller(text, label)),
  };
}

const sizeKey = ({ page, words }: Segment): string =>
  `${String(page)} ${String(Math.round(2 * (words[0]?.fontSize ?? 0)))}`;
