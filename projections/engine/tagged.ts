import type { Tags } from '../../domain/kernel/tags.ts';
import { inserting, jsonText } from './bulk.ts';
import type { SqlRow, SqlTx, SqlValue } from './ports.ts';
import { askableOf, type Page, type Paged, paging } from './query.ts';
import type { TextsOf } from './sorts.ts';
import { table, tagsOf } from './table.ts';

/** A row for each tag of some kind of work: lists of a tenant's work with a tag are found by it. */
export const tagTable = (name: string) =>
  table({
    name,
    key: ['tenant_id', 'name', 'value', 'work'],
    columns: { tenant_id: 'sorted', name: 'sorted', value: 'sorted', work: 'sorted' },
  });

type TagTable = ReturnType<typeof tagTable>;

/** Work that may have tags. `work`: its ID. */
interface Tagged {
  readonly tenant_id: string;
  readonly work: string;
  readonly tags?: Tags | undefined;
}

/** Writes the tags of work into its table. */
export const taggingIn = (into: TagTable) => {
  const insert = inserting(into, { firstStands: true });
  return (tx: SqlTx, schema: string, all: readonly Tagged[]): Promise<void> =>
    insert(
      tx,
      schema,
      all.flatMap(({ tenant_id, work, tags = {} }) =>
        Object.entries(tags).map(([name, value]) => ({ tenant_id, name, value, work })),
      ),
    );
};

/** Tags as their column has them; null: none. */
export const tagsColumn = ({ tags }: { readonly tags?: Tags | undefined }): string | null =>
  tags === undefined ? null : jsonText(tags);

/** Work of the tenant `$1`, whose ID is in a column, that has so many tags; their names and values follow `first`. */
const hasTags = (
  { name }: TagTable,
  id: string,
  { count, first }: { count: number; first: number },
): string =>
  Array.from({ length: count }, (_, at) => {
    const [named, valued] = [first + 2 * at, first + 2 * at + 1].map((place) => `$${String(place)}`);
    return `and ${id} in (select work from read.${name}
      where tenant_id = $1 and name = ${named ?? ''} and value = ${valued ?? ''})`;
  }).join(' ');

/**
 * How work that may have tags is listed. `chosen` is for the tenant `$1`, and ends in conditions that `and` may
 * follow.
 */
interface TaggedList<Asked> extends Paged {
  readonly values: (asked: Asked) => readonly SqlValue[];
  readonly tags: TagTable;
  /** Column of the ID. */
  readonly id: string;
}

/** A page of a tenant's work, newest first. Where tags are asked for, it is found by them, and by nothing wider. */
export const pagingOfTagged = <Asked extends Page & { readonly tag?: Tags | undefined }, Row>(
  { values, tags, id, ...paged }: TaggedList<Asked>,
  read: (row: SqlRow) => Row,
) => {
  const readAll = (row: SqlRow) => ({ ...read(row), tags: tagsOf(row) });
  const all = paging(paged, values, readAll);
  const pageOf =
    (sql: SqlTx, texts?: TextsOf) =>
    (asked: Asked): ReturnType<ReturnType<typeof all>> => {
      if (asked.tag === undefined) return all(sql, texts)(asked);
      const [before, pairs] = [values(asked), Object.entries(asked.tag)];
      const of = { count: pairs.length, first: before.length + 1 };
      const chosen = `${paged.chosen} ${hasTags(tags, id, of)}`;
      const given = [...before, ...pairs.flat()];
      return paging({ ...paged, chosen }, () => given, readAll)(sql, texts)(asked);
    };
  return Object.assign(pageOf, askableOf(paged));
};
