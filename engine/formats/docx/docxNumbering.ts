import { valueOf } from './docxStyles.ts';
import {
  LABEL_CHARACTERS_MAX,
  numberingOf,
  type Level,
  type Numbered,
  type Numbering,
} from '../office/numbering.ts';
import { childAt, elementsOf, type XmlElement } from '../office/xmlTree.ts';

/** The numberings of a document, their counters at the start. */
export const docxNumbering = (part: XmlElement | undefined): Numbering => numberingOf(numberings(part));

function numberings(part: XmlElement | undefined): ReadonlyMap<string, Numbered> {
  const abstracts = new Map(
    elementsOf(part, 'w:abstractNum').map((abstract) => [
      abstract.attributes['w:abstractNumId'] ?? '',
      abstract,
    ]),
  );
  const byStyle = new Map(
    [...abstracts.values()].map((abstract) => [valueOf(abstract, 'w:styleLink') ?? '', abstract]),
  );
  return new Map(
    elementsOf(part, 'w:num').map((num) => {
      const own = abstracts.get(valueOf(num, 'w:abstractNumId') ?? '');
      const link = valueOf(own, 'w:numStyleLink');
      const abstract = link === undefined ? own : (byStyle.get(link) ?? own);
      return [num.attributes['w:numId'] ?? '', numberedOf(num, abstract)];
    }),
  );
}

function numberedOf(num: XmlElement, abstract: XmlElement | undefined): Numbered {
  const overrides = elementsOf(num, 'w:lvlOverride');
  const levels = new Map([
    ...elementsOf(abstract, 'w:lvl').map(levelOf),
    ...overrides.flatMap((override) => elementsOf(override, 'w:lvl').map(levelOf)),
  ]);
  const starts = overrides.flatMap((override): [number, number][] => {
    const start = valueOf(override, 'w:startOverride');
    return start === undefined ? [] : [[Number(override.attributes['w:ilvl']), wholeOf(start, 1)]];
  });
  return { definition: abstract?.attributes['w:abstractNumId'] ?? '', levels, starts: new Map(starts) };
}

const levelOf = (level: XmlElement): [number, Level] => [
  Number(level.attributes['w:ilvl']),
  {
    format: valueOf(level, 'w:numFmt') ?? 'decimal',
    pattern: (valueOf(level, 'w:lvlText') ?? '').slice(0, LABEL_CHARACTERS_MAX),
    start: wholeOf(valueOf(level, 'w:start'), 1),
    isLegal: childAt(level, 'w:isLgl') !== undefined,
    restarts: valueOf(level, 'w:lvlRestart') !== '0',
    style: valueOf(level, 'w:pStyle'),
  },
];

function wholeOf(text: string | undefined, otherwise: number): number {
  const value = Number(text ?? Number.NaN);
  return Number.isSafeInteger(value) && value >= 0 ? value : otherwise;
}
