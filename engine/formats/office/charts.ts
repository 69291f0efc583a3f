import { tableOf, type Block } from '../../document/document.ts';
import { escapeText } from '../../document/inline.ts';
import { readPart } from './ooxmlPackage.ts';
import { childAt, findAll, textIn, type XmlElement } from './xmlTree.ts';

type Members = ReadonlyMap<string, Uint8Array>;

const POINTS_MAX = 10_000;

/** Where the parts that a part points to are. */
export interface Package {
  readonly targets: ReadonlyMap<string, string>;
  readonly members: Members;
}

/** What the chart in a frame shows; nothing where the frame holds none. */
export function chartsIn(frame: XmlElement, { targets, members }: Package): readonly Block[] {
  const part = targets.get(findAll(frame, 'c:chart')[0]?.attributes['r:id'] ?? '');
  const chart = childAt(part === undefined ? undefined : readPart(members.get(part)), 'c:chart');
  return chart === undefined ? [] : blocksOnce(chart);
}

/** Charts that were read: many frames may show one. */
const READ = new WeakMap<XmlElement, readonly Block[]>();

function blocksOnce(chart: XmlElement): readonly Block[] {
  const before = READ.get(chart);
  if (before !== undefined) return before;
  const blocks = chartBlocks(chart);
  READ.set(chart, blocks);
  return blocks;
}

function chartBlocks(chart: XmlElement): readonly Block[] {
  const title = findAll(childAt(chart, 'c:title'), 'a:t').map(textIn).join('').trim();
  const series = findAll(childAt(chart, 'c:plotArea'), 'c:ser')
    .map(seriesOf)
    .filter(({ values }) => values.size > 0);
  const categories = new Map(series.flatMap(({ categories: own }) => [...own]));
  const places = [...new Set(series.flatMap(({ values }) => [...values.keys()]))].sort((a, b) => a - b);
  const header = ['', ...series.map(({ name }) => name)];
  const rows = places
    .slice(0, POINTS_MAX)
    .map((place) => [
      categories.get(place) ?? String(place + 1),
      ...series.map(({ values }) => values.get(place) ?? ''),
    ]);
  const table: readonly Block[] = rows.length === 0 ? [] : [tableOf([header, ...rows], 1)];
  return title === ''
    ? table
    : [{ kind: 'paragraph', text: title, markdown: escapeText(title), box: null }, ...table];
}

interface Series {
  readonly name: string;
  readonly categories: ReadonlyMap<number, string>;
  readonly values: ReadonlyMap<number, string>;
}

const seriesOf = (series: XmlElement): Series => ({
  name: [...pointsOf(childAt(series, 'c:tx')).values()].join(' '),
  categories: pointsOf(childAt(series, 'c:cat') ?? childAt(series, 'c:xVal')),
  values: pointsOf(childAt(series, 'c:val') ?? childAt(series, 'c:yVal')),
});

/** Values that the workbook kept when it was saved, by their index. */
const pointsOf = (element: XmlElement | undefined): ReadonlyMap<number, string> =>
  new Map(
    findAll(element, 'c:pt')
      .slice(0, POINTS_MAX)
      .map((point) => [Number(point.attributes['idx']) || 0, textIn(childAt(point, 'c:v')).trim()]),
  );
