import type { Json } from '../../kernel/json.ts';
import type { Field } from '../fields/fields.ts';
import type { Candidate } from '../candidates.ts';
import { findingOf, textFinding, type Finding, type RowFindings } from '../finding.ts';
import { namedBy, type Names } from '../words/says.ts';
import { folded } from '../../kernel/text.ts';
import { labelWords } from '../words/labelWords.ts';
import type { Listed } from '../lists/rowMembers.ts';
import type { Segment } from '../places/layout.ts';
import type { Source } from '../source.ts';
import { fiscalEnd, fiscalName, lastDay, statementsOf, type Statement } from './statements.ts';
import { lexicon } from '../words/lexicon.ts';
import { asks, type Want } from '../fields/wants.ts';

type Member = 'value' | 'period' | 'unit' | 'scale' | 'line';

/** The members of an entry that a statement's form gives. */
type Members = Readonly<Partial<Record<Member, Field>>> & { readonly value: Field; readonly period: Field };

/** A line names the list so well. */
const NAMED = 0.72;
/** Lines that name it nearly as well are the same figure in another statement. */
const NEAR = 0.04;
const EVIDENCE = { label: 0.75, strictness: 0.6, margin: 0.2, agreement: 0 };

/** What a list's entries ask of a statement; undefined where they ask for something else. */
export function statementMembers(fields: readonly Field[]): Members | undefined {
  const called = (want: Want): Field | undefined => fields.find((field) => asks(field, want));
  const [value, period, line] = [called('figure'), called('period'), called('line')];
  const [unit, scale] = [called('unit'), called('scale')];
  if (value === undefined || period === undefined || (unit === undefined && scale === undefined))
    return undefined;
  return { value, period, ...(unit && { unit }), ...(scale && { scale }), ...(line && { line }) };
}

/**
 * The entries of a list that asks for one figure by period, with unit and scale: the numbers of the line that names
 * the list, one a column. What the column's head, the title and marks of currency say are members of each. A figure is
 * of a day or of a time, never of both: inventories are no change in inventories. A list whose rows name their line has
 * those of all lines.
 */
export function statementRows(
  { fields, called }: Listed,
  members: Members,
  source: Source,
): readonly RowFindings[] {
  const statements = statementsOf(source);
  const ends = fiscalEnd(statements.flatMap(({ columns }) => columns.map(({ period }) => period)));
  const scored = scoredLines(statements, members.line === undefined ? namesOf(called) : undefined);
  const rows = new Map<string, RowFindings>();
  let isOfDay: boolean | undefined;
  for (const { statement, line, score, column, number } of scored.flatMap(cellsOf)) {
    const period = periodValue(members.period, column, ends);
    if (period === undefined) continue;
    const key = JSON.stringify([period.value, members.line && line.label]);
    if (rows.has(key)) continue;
    isOfDay = (members.line ?? isOfDay) === undefined ? isDay(column) : isOfDay;
    if (isOfDay !== undefined && isOfDay !== isDay(column)) continue;
    const value = findingOf(number, { ...EVIDENCE, label: score * EVIDENCE.label }, amountOf(number, line));
    const said = [
      ...saidAs(members.line, saidAt(line.at, line.label)),
      ...saidOf(members, { statement, ...line }),
    ];
    const own = [[members.value.pointer, value] as const, [members.period.pointer, period] as const];
    rows.set(key, new Map([...own, ...said, ...wholeOf(fields, value)]));
  }
  return [...rows.values()];
}

const cellsOf = (one: ScoredLine) =>
  [...one.line.cells].map(([column, number]) => ({ ...one, column, number }));

const isDay = ({ period }: Statement['columns'][number]): boolean => period.months === undefined;

interface ScoredLine {
  readonly statement: Statement;
  readonly line: Statement['lines'][number];
  readonly score: number;
}

/** The lines that a list's names say best; all lines where it has none, for its rows say which line they are of. */
function scoredLines(statements: readonly Statement[], names: Names | undefined): readonly ScoredLine[] {
  const scored = statements.flatMap((statement) =>
    statement.lines.map((line) => ({
      statement,
      line,
      score: names === undefined ? 1 : lineScore(line.words, names),
    })),
  );
  const best = scored.reduce((most, { score }) => Math.max(most, score), 0);
  return scored.filter(({ score }) => score >= Math.max(NAMED, best - NEAR));
}

/**
 * What is paid out stands in brackets where a statement adds it up: a line that says so, all of whose numbers are below
 * zero, is asked for as an amount ("Dividends paid (12.5)" are 12.5), as the taxonomies of filings have it.
 */
function amountOf({ value }: Candidate, { label, cells }: Statement['lines'][number]): Json {
  const isOut = (folded(label).match(/\p{L}+/gu) ?? []).some((word) => lexicon.figures.paid_out.has(word));
  const isBelow = [...cells.values()].every((cell) => typeof cell.value === 'number' && cell.value <= 0);
  return isOut && isBelow && !/\(\p{L}/u.test(label) && typeof value === 'number' ? Math.abs(value) : value;
}

/** A description begins with what a figure is called: "Goodwill: …", "Cash and cash equivalents (i.e. …)". */
function namesOf({ phrases, description }: Listed['called']): Names {
  const [head = ''] = description.split(/[:(;.]/);
  const words = labelWords(head);
  return { phrases: words.length > 0 && words.length <= 8 ? [...phrases, words] : phrases, about: [] };
}

/** The label as it stands, or a part of it. */
const lineScore = ([whole = [], ...parts]: Statement['lines'][number]['words'], names: Names): number =>
  parts.reduce((best, part) => Math.max(best, 0.97 * namedBy(names, part)), namedBy(names, whole));

const wholeOfSegment = (segment: Segment) => ({ segment, from: 0, to: segment.text.length });

function periodValue(
  field: Field,
  { period, heads }: Statement['columns'][number],
  ends: number,
): Finding | undefined {
  const finding = textFinding(heads.map(wholeOfSegment), EVIDENCE);
  if (finding === undefined) return undefined;
  if (field.kind === 'date') return withValue(finding, lastDay(period));
  const isFiscal = field.about.flat().some((word) => /^fy\d{4}$/.test(word));
  return isFiscal ? withValue(finding, fiscalName(period, ends)) : finding;
}

const withValue = (finding: Finding, value: Json | undefined): Finding | undefined =>
  value === undefined ? undefined : { ...finding, value };

type Said = readonly (readonly [string, Finding])[];

interface LineOf {
  readonly statement: Statement;
  readonly label: string;
  readonly isPercent: boolean;
}

/** Unit and scale: a share of a hundred and an amount for one of something are not scaled. */
const saidOf = ({ unit, scale }: Members, line: LineOf): Said => [
  ...saidAs(unit, unitOf(line)),
  ...saidAs(scale, scaleOf(line)),
];

const saidAs = (field: Field | undefined, finding: Finding | undefined): Said =>
  field === undefined || finding === undefined ? [] : [[field.pointer, finding]];

const unitOf = ({ statement, isPercent }: LineOf): Finding | undefined =>
  isPercent
    ? saidAt(placeOfScale(statement), '%')
    : saidAt(statement.currency?.segment, statement.currency?.value);

function scaleOf({ statement, label, isPercent }: LineOf): Finding | undefined {
  const plain = folded(label);
  const isOfOne = isPercent || lexicon.figures.per_one.words.some((words) => plain.includes(words));
  return saidAt(placeOfScale(statement), isOfOne ? 1 : (statement.scale?.value ?? 1));
}

const placeOfScale = ({ scale, currency }: Statement): Segment | undefined =>
  scale?.segment ?? currency?.segment;

function saidAt(segment: Segment | undefined, value: Json | undefined): Finding | undefined {
  const finding = segment === undefined ? undefined : textFinding([wholeOfSegment(segment)], EVIDENCE);
  return finding === undefined ? undefined : withValue(finding, value);
}

/** Choices of which one says that a figure is that of the whole: a line of a statement is, unless it says a part. */
const wholeOf = (fields: readonly Field[], value: Finding): Said =>
  fields.flatMap(({ choices, pointer }) => {
    const whole = choices.find((choice) => lexicon.figures.whole.has(folded(choice)));
    return whole === undefined ? [] : [[pointer, { ...value, value: whole }] as const];
  });
