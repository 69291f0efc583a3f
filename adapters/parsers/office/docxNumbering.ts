import type { Label } from './blocks.ts';
import { valueOf } from './docxStyles.ts';
import { formatNumber } from './numberFormats.ts';
import { childAt, elementsOf, type XmlElement } from './xmlTree.ts';

interface Level {
  readonly format: string;
  /** `%1.%2` stands for the numbers of levels 1 and 2. */
  readonly pattern: string;
  readonly start: number;
  /** Whether numbers of outer levels are shown as decimals here. */
  readonly isLegal: boolean;
  /** Whether an item of an outer level begins the numbers anew. */
  readonly restarts: boolean;
  readonly style: string | undefined;
}

interface Numbered {
  readonly abstractId: string;
  readonly levels: ReadonlyMap<number, Level>;
  readonly starts: ReadonlyMap<number, number>;
}

/** Numbers the paragraphs of a document, in their order. */
export interface Numbering {
  /** The level that a style stands for in a numbering; undefined where it stands for none. */
  levelOfStyle(numId: string, styleId: string): number | undefined;
  /** The label of the next paragraph there; null where the numbering is not defined or shows nothing. */
  next(numId: string, level: number): Label | null;
}

const LEVELS = 9;

/** The numberings of a document, their counters at the start. */
export function docxNumbering(part: XmlElement | undefined): Numbering {
  const numbered = numberings(part);
  const counters = new Map<string, (number | undefined)[]>();
  const started = new Set<string>();
  return {
    levelOfStyle: (numId, styleId) =>
      [...(numbered.get(numId)?.levels ?? [])].find(([, { style }]) => style === styleId)?.[0],
    next: (numId, level) => {
      const numbering = numbered.get(numId);
      const definition = numbering?.levels.get(level);
      if (numbering === undefined || definition === undefined) return null;
      const counter = counters.get(numbering.abstractId) ?? [];
      counters.set(numbering.abstractId, counter);
      const start = numbering.starts.get(level);
      const isFirst = start !== undefined && !started.has(`${numId} ${level}`);
      started.add(`${numId} ${level}`);
      const before = isFirst ? undefined : counter[level];
      counter[level] = before === undefined ? (start ?? definition.start) : before + 1;
      for (let inner = level + 1; inner < LEVELS; inner += 1)
        if (numbering.levels.get(inner)?.restarts !== false) counter[inner] = undefined;
      return labelOf(numbering, level, counter);
    },
  };
}

function labelOf({ levels }: Numbered, at: number, counter: readonly (number | undefined)[]): Label | null {
  const level = levels.get(at);
  if (level === undefined) return null;
  if (level.format === 'bullet') return { number: null, text: '' };
  const text = level.pattern.replace(/%([1-9])/g, (_, digit: string) => {
    const index = Number(digit) - 1;
    const outer = levels.get(index);
    const format = level.isLegal && index !== at ? 'decimal' : (outer?.format ?? 'decimal');
    return formatNumber(counter[index] ?? outer?.start ?? 1, format);
  });
  if (text.trim() === '') return null;
  const isPlain = level.format === 'decimal' && new RegExp(`^%${at + 1}[.)]?$`).test(level.pattern.trim());
  return { number: isPlain ? (counter[at] ?? null) : null, text: text.trim() };
}

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
  return { abstractId: abstract?.attributes['w:abstractNumId'] ?? '', levels, starts: new Map(starts) };
}

const levelOf = (level: XmlElement): [number, Level] => [
  Number(level.attributes['w:ilvl']),
  {
    format: valueOf(level, 'w:numFmt') ?? 'decimal',
    pattern: valueOf(level, 'w:lvlText') ?? '',
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
