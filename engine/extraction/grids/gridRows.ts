import type { RowFindings } from '../finding.ts';
import type { Word } from '../../document/document.ts';
import { once } from '../../kernel/once.ts';
import type { Called, Field } from '../fields/fields.ts';
import type { Listed } from '../lists/rowMembers.ts';
import type { Source } from '../source.ts';
import { contextScore, sections } from './sections.ts';
import { unfolded } from './apart.ts';
import type { Grid, Headed } from './grid.ts';
import { areGoods, goodsMatcher } from './goods.ts';
import { formulasBelow, isPrinted } from './computed.ts';
import { headedBy, type Asked } from './headerRows.ts';
import { headerMatcher } from '../words/says.ts';
import { lineGrids } from './lineGrids.ts';
import { rowChoice, rowsOf } from './partRows.ts';
import { gridsOf, turnedGrids } from './tableGrids.ts';

/** Rows that grids have for a list, and how well they answer it. */
export interface GridAnswer {
  readonly rows: readonly RowFindings[];
  /** 0..1: how well headers name the fields. */
  readonly score: number;
}

/** Tables of a document that are looked at. */
const GRIDS_MAX = 2000;
/** Below this a table answers something else. */
const ANSWERS = 0.5;
/** Lines that only stand like a table must be headed better than one that is drawn. */
const LINES_ANSWER = 0.85;
/** Most tables have their header above: the other way they must be named better. */
const TURNED_ANSWERS = 0.6;
const TURNED_COSTS = 0.03;

/**
 * The rows of the tables whose headers name the fields best, in all places where the same header stands or
 * the table goes on. A table that names too few of them, or holds values of other types, answers nothing.
 */
export function gridRows(listed: Listed, source: Source): GridAnswer {
  const none = { rows: [], score: 0 };
  const asked = askedOf(listed, source);
  const { fields } = asked;
  if (fields.length === 0) return none;
  if (areGoods(fields)) {
    const goods = { ...asked, matcher: goodsMatcher(source.labels), ofGoods: true, least: ANSWERS };
    const answer = answerOf(goodsFor(source)(fields), goods);
    if (answer.rows.length > 0) return answer;
  }
  const lines = answerOf(linesFor(source)(fields), { ...asked, least: LINES_ANSWER });
  const drawn = drawnIn(source);
  const turned = answerOf(turnedIn(source), { ...asked, least: TURNED_ANSWERS });
  const answers = [
    answerOf(drawn, { ...asked, least: ANSWERS }),
    lines,
    { ...turned, score: turned.score - TURNED_COSTS },
  ];
  return answers.reduce((best, one) => (isBetter(one, best) ? one : best), none);
}

/** Rows of lines below a header that says little of them, where nothing else has rows. */
export function lineRows(listed: Listed, source: Source): readonly RowFindings[] {
  const asked = askedOf(listed, source);
  return asked.fields.length === 0
    ? []
    : answerOf(linesFor(source)(asked.fields), { ...asked, least: ANSWERS }).rows;
}

const askedOf = ({ fields, called, outer }: Listed, source: Source): Omit<Answering, 'least'> => ({
  ...membersFor(source)(fields),
  outer,
  matcher: headerMatcher(source.labels),
  source,
  called,
  ofGoods: false,
});

/** Members that are read from columns, and those that are worked out. */
const membersFor = once((source: Source) =>
  once((all: readonly Field[]) => {
    const computed = all.filter((field) => field.computed !== undefined && !isPrinted(field, source));
    return { computed, fields: computed.length === 0 ? all : all.filter((one) => !computed.includes(one)) };
  }),
);

const drawnIn = once((source: Source) => gridsOf(source.document).slice(0, GRIDS_MAX).map(unfolded));
const turnedIn = once((source: Source) => turnedGrids(drawnIn(source)));
const linesWhere = (ofGoods: boolean) =>
  once((source: Source) =>
    once((fields: readonly Field[]) =>
      lineGrids({ fields, matcher: headerMatcher(source.labels), source, ofGoods })
        .slice(0, GRIDS_MAX)
        .map(unfolded),
    ),
  );
const linesFor = linesWhere(false);
const goodsFor = linesWhere(true);

/** Scores that are so near say the same. */
const NEAR = 0.12;

/** Headers that fit better; of those that fit alike, the ones with more values below them. */
function isBetter(one: GridAnswer, than: GridAnswer): boolean {
  if (one.rows.length === 0 || than.rows.length === 0) return one.rows.length > 0;
  if (Math.abs(one.score - than.score) > NEAR) return one.score > than.score;
  return valuesIn(one) > valuesIn(than);
}

const valuesIn = ({ rows }: GridAnswer): number => rows.reduce((sum, { size }) => sum + size, 0);

interface Answering extends Asked {
  readonly called: Called;
  /** Members that are worked out of the columns. */
  readonly computed: readonly Field[];
  /** The score below which nothing is answered. */
  readonly least: number;
}

function answerOf(grids: readonly Grid[], { called, computed, least, ...asked }: Answering): GridAnswer {
  const none = { rows: [], score: 0 };
  const headed = headedFor(asked, grids);
  const context = (one: Headed): number => contextScore(called, one);
  let best: Headed | undefined;
  for (const one of headed)
    if (one !== undefined && (best === undefined || rank(one, context) > rank(best, context))) best = one;
  if (best === undefined || (best.score < least && !namesAllButOne(best, asked.fields, least))) return none;
  const parts = sections(best, { grids, headed, called, asked });
  const choice = rowChoice(called, parts);
  const header = computed.length === 0 ? [] : (best.grid.rows[best.header] ?? []);
  const formulas = formulasBelow(header, computed, asked.source);
  const rows = parts.flatMap((part) => rowsOf(part, { ...asked, choice, formulas }));
  return { rows: toldOnce(rows), score: best.score };
}

/** Lines are tried under several headers, so that one line may be a row of two grids. */
function toldOnce(rows: readonly RowFindings[]): readonly RowFindings[] {
  const told = new Set<Word>();
  return rows.filter((row) => {
    const words = [...row.values()].flatMap((finding) => finding.words);
    const isNew = words.length === 0 || words.some((word) => !told.has(word));
    for (const word of words) told.add(word);
    return isNew;
  });
}

/** The headers of grids for the same fields, by the grids. */
const headers = once((_source: Source) =>
  once((_fields: readonly Field[]) => new WeakMap<Grid, { readonly found: Headed | undefined }>()),
);

function headedFor(asked: Asked, grids: readonly Grid[]): readonly (Headed | undefined)[] {
  const known = headers(asked.source)(asked.fields);
  return grids.map((grid) => {
    const before = known.get(grid) ?? { found: headedBy(grid, asked) };
    known.set(grid, before);
    return before.found;
  });
}

/** So many members that have columns of their own tell a table, whatever else the list asks for. */
const NAMED_MIN = 3;

/** A list may ask for one member that its table has no column for: the name of the group that a row is in. */
function namesAllButOne({ mapped }: Headed, fields: readonly Field[], least: number): boolean {
  const scores = [...mapped.values()].map(({ score }) => score);
  const mean = scores.reduce((sum, score) => sum + score, 0) / Math.max(1, scores.length);
  return scores.length >= NAMED_MIN && scores.length >= fields.length - 1 && mean >= least;
}

/** What stands above a table decides between tables that are headed alike, and makes up for no column. */
const rank = (one: Headed, context: (one: Headed) => number): number =>
  one.score + 0.1 * Math.min(2, context(one));
