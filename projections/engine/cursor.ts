import { sha256 } from '../../domain/kernel/chain.ts';
import type { SqlRow, SqlValue } from './ports.ts';

/** A cursor that names no row of the list it was sent to; the message says why. */
export class WrongCursor extends Error {
  override readonly name = 'WrongCursor';
}

/** One column of a list's order: the SQL that gives it, and its type. */
interface Ordered {
  readonly by: string;
  readonly as: 'int8' | 'numeric' | 'text';
  readonly isAscending?: boolean;
}

/** A list that is walked by keys. Together the columns of its order tell each of its rows from all others. */
export interface Listed {
  /** Part of its cursors, so that no other list takes them. */
  readonly name: string;
  readonly order: readonly Ordered[];
}

/** The order of most lists: newest first, by the place in the log. */
export const NEWEST_FIRST: Listed['order'] = [{ by: 'position', as: 'int8' }];

/** Where a walk goes on: behind the row with this key. `total`: how many rows matched when the walk began. */
export interface Place {
  readonly key: readonly SqlValue[];
  readonly total: number;
}

const FORM = 1;
/** Positions and times are far below what int8 holds; the longest texts that lists are ordered by are tenant IDs. */
const INT8 = /^-?\d{1,18}$/;
/** Sums of amounts, as Postgres writes them. */
const NUMERIC = /^-?\d{1,60}(?:\.\d{1,20})?$/;
const TEXT = /^[^\0]{0,300}$/;

/** Members of a question that do not choose rows. */
const NOT_OF_THE_FILTER = new Set(['limit', 'offset', 'cursor', 'bom', 'now']);

/** Tells texts apart. Whoever makes a cursor himself reads no more by it than by the list. */
const sumOf = (text: string): string => sha256(text).slice(0, 16);

/** The rows that are asked for, as text: the same for every page of a walk. */
export const filterOf = (asked: object): string =>
  sumOf(
    JSON.stringify(
      Object.entries(asked)
        .filter(([name, value]) => value !== undefined && !NOT_OF_THE_FILTER.has(name))
        .sort(([one], [other]) => (one < other ? -1 : 1)),
    ),
  );

const MANGLED = 'Not a cursor of this service: send the `next_cursor` of the page before, unchanged.';
const FOREIGN =
  'The cursor is of another list or of other filters: repeat the query that gave it, or begin without a cursor.';

/** The members of a cursor's text; undefined for a text that this service did not make. */
const membersIn = (cursor: string): readonly unknown[] | undefined => {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const at = text.indexOf(' ');
  const body = text.slice(at + 1);
  const isWhole = Buffer.from(text).toString('base64url') === cursor;
  if (!isWhole || at < 0 || sumOf(body) !== text.slice(0, at)) return undefined;
  try {
    const members: unknown = JSON.parse(body);
    return Array.isArray(members) && members[0] === FORM ? members : undefined;
  } catch {
    return undefined;
  }
};

const FORMS = { int8: INT8, numeric: NUMERIC, text: TEXT } as const;

const valueOf = (text: unknown, { as }: Ordered): SqlValue => {
  if (typeof text !== 'string' || !FORMS[as].test(text)) throw new WrongCursor(MANGLED);
  return as === 'int8' ? BigInt(text) : text;
};

/** The place that a question's cursor names; undefined: it has none. Throws `WrongCursor`. */
export const placeOf = (
  { name, order }: Listed,
  asked: { readonly cursor?: string | undefined },
): Place | undefined => {
  if (asked.cursor === undefined) return undefined;
  const members = membersIn(asked.cursor);
  if (members === undefined) throw new WrongCursor(MANGLED);
  const [, list, filter, total, ...key] = members;
  if (list !== name || filter !== filterOf(asked)) throw new WrongCursor(FOREIGN);
  const isCount = typeof total === 'number' && Number.isSafeInteger(total) && total >= 0;
  if (!isCount || key.length !== order.length) throw new WrongCursor(MANGLED);
  return { total, key: order.map((one, at) => valueOf(key[at], one)) };
};

const KEY = 'list_key_';

/** The columns of the order, for `select`: cursors are made of them. */
export const keyColumns = ({ order }: Pick<Listed, 'order'>): string =>
  order.map(({ by }, at) => `${by} as ${KEY}${String(at)}`).join(', ');

/** The names of those columns. */
export const keyNames = ({ order }: Pick<Listed, 'order'>): readonly string[] =>
  order.map((_, at) => `${KEY}${String(at)}`);

/** The condition of rows by the columns of an order that tells them apart; their values are arrays of texts. */
export const withKeys = ({ order }: Pick<Listed, 'order'>, first: number): string => {
  const columns = order.map((_, at) => `k${String(at)}`);
  const given = order.map((_, at) => `$${String(first + at)}::text[]`);
  const values = order.map(({ as }, at) => `${columns[at] ?? ''}::${as}`);
  const found = `select ${values.join(', ')} from unnest(${given.join(', ')}) as keys(${columns.join(', ')})`;
  return `(${order.map(({ by }) => by).join(', ')}) in (${found})`;
};

/** A row that has nothing but the key of a list that no table holds. */
export const keyRow = (key: string): SqlRow => ({ [`${KEY}0`]: key });

/** The key of such a row. */
export const keyIn = (row: SqlRow): string => String(row[`${KEY}0`]);

/** The cursor behind a row that has the columns of `keyColumns`. */
export const cursorBehind = (
  { name, order }: Listed,
  { asked, row, total }: { readonly asked: object; readonly row: SqlRow; readonly total: number },
): string => {
  const key = order.map((_, at) => String(row[`${KEY}${String(at)}`]));
  const body = JSON.stringify([FORM, name, filterOf(asked), total, ...key]);
  return Buffer.from(`${sumOf(body)} ${body}`).toString('base64url');
};

/** The condition of the rows behind a key, whose values are the parameters from `$first` on. */
export const behindKey = ({ order }: Pick<Listed, 'order'>, first: number): string => {
  const value = ({ as }: Ordered, at: number) => `$${String(first + at)}::${as}`;
  const steps = order.map((one, at) => {
    const equal = order.slice(0, at).map((before, place) => `${before.by} = ${value(before, place)}`);
    return [...equal, `${one.by} ${one.isAscending === true ? '>' : '<'} ${value(one, at)}`].join(' and ');
  });
  return `(${steps.join(' or ')})`;
};

/** What follows `order by`. */
export const orderBy = ({ order }: Pick<Listed, 'order'>): string =>
  order.map(({ by, isAscending }) => `${by}${isAscending === true ? '' : ' desc'}`).join(', ');
