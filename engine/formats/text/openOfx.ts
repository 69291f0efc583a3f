import { tableOf, type Block } from '../../document/document.ts';
import { escapeText } from '../../document/inline.ts';
import { ownMember } from '../../kernel/json.ts';
import { openedFlow, openFlow } from '../pieces/flow.ts';
import type { Opener } from '../pieces/opened.ts';
import labels from './recordLabels.json' with { type: 'json' };
import { textDocument } from './textDocument.ts';

/*
 * Statements of accounts as banks export them (Open Financial Exchange). Version 1 is SGML, in which a value ends with
 * its line or the next tag; version 2 is XML. Each statement is shown as labels and values, and a table of movements.
 */

/** A value under the names of the aggregates around it, its own last. */
interface Leaf {
  readonly path: readonly string[];
  readonly value: string;
}

interface Statement {
  readonly title: string;
  readonly values: Leaf[];
  readonly movements: Leaf[][];
}

const DEPTH_MAX = 32;
const TITLES: Readonly<Record<string, string>> = labels.statement.titles;
const VALUES: Readonly<Record<string, string>> = labels.statement.values;
const COLUMNS: Readonly<Record<string, string>> = labels.statement.movement;
const MOVEMENT = 'STMTTRN';

/** Opens statements; what holds none, such as depots, stays as it stands. */
export const openOfx: Opener = ({ text = '' }) => {
  const { institution, statements } = statementsIn(text);
  const blocks = statements.flatMap((statement) => blocksOf(statement, institution));
  const isStatement = statements.some(({ values }) => values.length > 0);
  return Promise.resolve(
    isStatement ? openFlow({ mimeType: 'application/x-ofx', blocks }) : openedFlow(textDocument(text)),
  );
};

/** A value, or an aggregate that begins, which has none. */
interface Step extends Leaf {
  readonly name: string;
}

const TAG = /<(\/?)([A-Za-z][\w.]{0,63})>([^<]*)/g;

function stepsIn(text: string): readonly Step[] {
  const open: string[] = [];
  const steps: Step[] = [];
  for (const [, end = '', tag = '', raw = ''] of text.matchAll(TAG)) {
    const name = tag.toUpperCase();
    const value = readable(raw);
    if (end !== '') open.length = open.includes(name) ? open.lastIndexOf(name) : open.length;
    else {
      steps.push({ name, path: [...open, name], value });
      if (value === '' && open.length < DEPTH_MAX) open.push(name);
    }
  }
  return steps;
}

interface Statements {
  readonly institution: readonly Leaf[];
  readonly statements: readonly Statement[];
}

function statementsIn(text: string): Statements {
  const steps = stepsIn(text);
  const statements: Statement[] = [];
  for (const step of steps) {
    const title = step.value === '' ? ownMember(TITLES, step.name) : undefined;
    if (title !== undefined) statements.push({ title, values: [], movements: [] });
    else if (step.path.some((name) => Object.hasOwn(TITLES, name))) addTo(statements.at(-1), step);
  }
  return { institution: steps.filter(({ path }) => path.at(-2) === 'FI'), statements };
}

function addTo(statement: Statement | undefined, step: Step): void {
  if (step.value === '') {
    if (step.name === MOVEMENT) statement?.movements.push([]);
  } else if (step.path.includes(MOVEMENT)) statement?.movements.at(-1)?.push(step);
  else statement?.values.push(step);
}

const SIGNS: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  nbsp: ' ',
  quot: '"',
  apos: "'",
};

/** `&#233;` and `&#xE9;`, which statements in XML have, and what SGML names. */
const REFERENCE = /&(#\d{1,7}|#x[\da-f]{1,6}|\w{2,4});/gi;

const signOf = (whole: string, name: string): string => {
  if (!name.startsWith('#')) return ownMember(SIGNS, name) ?? whole;
  const code = Number(name.replace(/^#(x?)/i, (_, hex: string) => (hex === '' ? '' : '0x')));
  return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
};

const readable = (raw: string): string => raw.replace(REFERENCE, signOf).replace(/\s+/g, ' ').trim();

/** `20260203120000.000[-5:EST]` as people write it, without the time where it is midnight. */
function shown({ path, value }: Leaf): string {
  if (path.at(-1)?.startsWith('DT') !== true) return value;
  const [, year, month, day, hour = '00', minute = '00', zone] =
    /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(?:\d\d(?:\.\d+)?)?)?(?:\[(.+)\])?$/.exec(value) ?? [];
  if (year === undefined) return value;
  const date = [year, month, day].join('-');
  const time = `${hour}:${minute}`;
  return time === '00:00' ? date : [date, time, ...(zone === undefined ? [] : [zone])].join(' ');
}

/** The label of a value by its own name, or by the aggregate's with its own: `LEDGERBAL.BALAMT`. */
const labelIn = (known: Readonly<Record<string, string>>, { path }: Leaf): string | undefined =>
  ownMember(known, path.slice(-2).join('.')) ?? ownMember(known, path.at(-1) ?? '');

function blocksOf({ title, values, movements }: Statement, institution: readonly Leaf[]): readonly Block[] {
  const lines = [...institution, ...values].flatMap((leaf) => {
    const label = labelIn(VALUES, leaf);
    return label === undefined ? [] : [`${label}: ${shown(leaf)}`];
  });
  const rows = movements.map(
    (leaves) => new Map(leaves.map((leaf) => [labelIn(COLUMNS, leaf), shown(leaf)] as const)),
  );
  const columns = [...new Set(Object.values(COLUMNS))].filter((label) => rows.some((row) => row.has(label)));
  return [
    { kind: 'heading', level: 1, text: title, markdown: escapeText(title), box: null },
    ...lines.map((text): Block => ({ kind: 'paragraph', text, markdown: escapeText(text), box: null })),
    ...(columns.length === 0
      ? []
      : [tableOf([columns, ...rows.map((row) => columns.map((label) => row.get(label) ?? ''))], 1)]),
  ];
}
