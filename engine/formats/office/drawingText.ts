import { mathText } from './mathText.ts';
import { formatNumber } from './numberFormats.ts';
import { childAt, elementsOf, findAll, textIn, type XmlElement } from './xmlTree.ts';
import type { Label, TextPiece } from '../pieces/blocks.ts';
import { linkOf, PLAIN, plainRun, type Look, type Run } from '../pieces/runs.ts';

/** What stands before a paragraph that is an item. */
type Bullet =
  | { readonly kind: 'sign' }
  | { readonly kind: 'number'; readonly start: number; readonly labelOf: (number: number) => Label };

const SIGNS = ['a:buChar', 'a:buBlip'];

/** What the nearest properties that speak of bullets say; null: none. */
function bulletOf(chain: readonly XmlElement[]): Bullet | null {
  for (const properties of chain) {
    if (childAt(properties, 'a:buNone') !== undefined) return null;
    const numbered = childAt(properties, 'a:buAutoNum');
    if (numbered !== undefined) return numberedBullet(numbered);
    if (SIGNS.some((name) => childAt(properties, name) !== undefined)) return { kind: 'sign' };
  }
  return null;
}

const FORMATS: Readonly<Record<string, string>> = {
  arabic: 'decimal',
  romanUc: 'upperRoman',
  romanLc: 'lowerRoman',
  alphaUc: 'upperLetter',
  alphaLc: 'lowerLetter',
};
const AROUND: Readonly<Record<string, readonly [string, string]>> = {
  Period: ['', '.'],
  ParenR: ['', ')'],
  ParenBoth: ['(', ')'],
  Plain: ['', ''],
};

function numberedBullet({ attributes }: XmlElement): Bullet {
  const [, signs = 'arabic', around = 'Period'] =
    /^(arabic|romanUc|romanLc|alphaUc|alphaLc)(Period|ParenR|ParenBoth|Plain)$/.exec(
      attributes['type'] ?? '',
    ) ?? [];
  const format = FORMATS[signs] ?? 'decimal';
  const [before, after] = AROUND[around] ?? ['', '.'];
  const start = Number(attributes['startAt'] ?? '1');
  const isPlain = format === 'decimal' && before === '';
  return {
    kind: 'number',
    start: Number.isSafeInteger(start) ? start : 1,
    labelOf: (number) => ({
      number: isPlain ? number : null,
      text: `${before}${formatNumber(number, format)}${after}`,
    }),
  };
}

/** The runs of a paragraph of DrawingML. `targets` are the links of its part by relationship id. */
const runsOfParagraph = (paragraph: XmlElement, targets: ReadonlyMap<string, string>): readonly Run[] => {
  const runs = elementsOf(paragraph).flatMap((child) => runsOf(child, targets));
  return runs.every(({ text }) => text.trim() === '') ? [] : runs;
};

function runsOf(element: XmlElement, targets: ReadonlyMap<string, string>): readonly Run[] {
  switch (element.name) {
    case 'a:r':
    case 'a:fld':
      return [
        { ...lookOf(childAt(element, 'a:rPr'), targets), text: textIn(childAt(element, 'a:t')), note: null },
      ];
    case 'a:br':
      return [plainRun('\n')];
    case 'mc:AlternateContent':
      return findAll(element, 'm:oMath').map((math) => plainRun(mathText(math)));
    default:
      return [];
  }
}

function lookOf(properties: XmlElement | undefined, targets: ReadonlyMap<string, string>): Look {
  if (properties === undefined) return PLAIN;
  const { b, i, strike = 'noStrike' } = properties.attributes;
  const target = targets.get(childAt(properties, 'a:hlinkClick')?.attributes['r:id'] ?? '');
  return {
    bold: isOn(b),
    italic: isOn(i),
    strike: strike !== 'noStrike',
    link: target === undefined ? null : linkOf(target),
  };
}

const isOn = (value: string | undefined): boolean => value === '1' || value === 'true';

/** What stands around a text: the properties of its levels, and the links of its part by relationship id. */
export interface Around {
  readonly levelsOf: (level: number) => readonly XmlElement[];
  readonly targets: ReadonlyMap<string, string>;
}

export const ALONE: Around = { levelsOf: () => [], targets: new Map() };

/** The paragraphs of a text body; those with a bullet or number are items. */
export function textPieces(
  body: XmlElement | undefined,
  { levelsOf, targets }: Around = ALONE,
): readonly TextPiece[] {
  const numbers = new Map<number, number>();
  return elementsOf(body, 'a:p').map((paragraph) => {
    const properties = childAt(paragraph, 'a:pPr');
    const level = Math.min(8, Math.max(0, Number(properties?.attributes['lvl'] ?? '0') || 0));
    const runs = runsOfParagraph(paragraph, targets);
    const chain = properties === undefined ? levelsOf(level) : [properties, ...levelsOf(level)];
    const bullet = runs.length === 0 ? null : bulletOf(chain);
    for (const deeper of [...numbers.keys()]) if (deeper > level) numbers.delete(deeper);
    return itemOf({ bullet, level, numbers }, runs);
  });
}

interface Item {
  readonly bullet: Bullet | null;
  readonly level: number;
  /** The last number of each level. */
  readonly numbers: Map<number, number>;
}

function itemOf({ bullet, level, numbers }: Item, runs: TextPiece['runs']): TextPiece {
  if (bullet === null) {
    if (runs.length > 0) numbers.delete(level);
    return { kind: 'text', role: { kind: 'paragraph' }, label: null, runs };
  }
  const role = { kind: 'list_item', level: level + 1 } as const;
  if (bullet.kind === 'sign') return { kind: 'text', role, label: null, runs };
  const number = (numbers.get(level) ?? bullet.start - 1) + 1;
  numbers.set(level, number);
  return { kind: 'text', role, label: bullet.labelOf(number), runs };
}
