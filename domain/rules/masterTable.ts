import { z } from 'zod';
import {
  accept,
  type BareCommand,
  type Command,
  type Decider,
  event,
  reject,
  type StreamKind,
} from '../kernel/decider.ts';
import { instant, tenantId } from '../kernel/amounts.ts';

const count = z.number().int().min(0);

/** A version of a table, complete in itself. Its rows are in object storage under their digest. */
const tablePublished = event('TablePublished', {
  table_id: z.string(),
  tenant_id: tenantId,
  /** From 1; another content or name makes the next. */
  version: z.number().int().min(1),
  table_name: z.string().nullable(),
  /** The names of its columns; they lie beside the log as one text. */
  header: z.record(z.string(), z.json()).nullable(),
  columns: count,
  rows: count,
  /** Of the lines that are kept: the names of the columns, then the rows. */
  bytes: count,
  /** Digest of these lines: versions of one content have one digest. */
  sha256: z.string(),
  /** Of the first version. */
  created_at: instant,
  published_at: instant,
  published_by: z.string(),
});

/** The last event of its stream: all its versions are removed with their rows. */
const tableRemoved = event('TableRemoved', {
  table_id: z.string(),
  tenant_id: tenantId,
  removed_at: instant,
});

export const masterTableEvent = z.discriminatedUnion('type', [tablePublished, tableRemoved]);
type MasterTableEvent = z.output<typeof masterTableEvent>;
export type TableVersion = z.output<typeof tablePublished>['data'];

/** `update`: a version of a table that is there; otherwise a new table, once. */
type PublishTable = Command<
  'PublishTable',
  Omit<TableVersion, 'version' | 'created_at' | 'published_at' | 'published_by'> & {
    readonly update: boolean;
  }
>;
type RemoveTable = BareCommand<'RemoveTable'>;

type TableRejection = { readonly code: 'table_not_found' } | { readonly code: 'idempotency_key_reused' };

export interface MasterTableState {
  /** From version 1 on. */
  readonly versions: readonly TableVersion[];
  readonly removed_at: string | null;
}

export type MasterTableKind = StreamKind<
  MasterTableState,
  PublishTable | RemoveTable,
  MasterTableEvent,
  TableRejection
>;

const NOT_FOUND = { code: 'table_not_found' } as const;

const isSame = (latest: TableVersion, { data }: PublishTable): boolean =>
  latest.tenant_id === data.tenant_id &&
  latest.sha256 === data.sha256 &&
  latest.table_name === data.table_name;

/** The latest version; undefined: there is none, or the table was removed. */
const latestOf = ({ versions, removed_at }: MasterTableState): TableVersion | undefined =>
  removed_at === null ? versions.at(-1) : undefined;

const publish = (state: MasterTableState, command: PublishTable) => {
  const { update, ...wanted } = command.data;
  const { now, actor } = command.meta;
  const { versions } = state;
  const latest = latestOf(state);
  if (update && latest?.tenant_id !== wanted.tenant_id) return reject(NOT_FOUND);
  if (latest !== undefined && isSame(latest, command)) return accept<MasterTableEvent>();
  if (!update && versions.length > 0) return reject({ code: 'idempotency_key_reused' as const });
  return accept<MasterTableEvent>({
    type: 'TablePublished',
    data: {
      ...wanted,
      version: versions.length + 1,
      created_at: latest?.created_at ?? now,
      published_at: now,
      published_by: actor.key_id,
    },
  });
};

/** Master data of a tenant, such as its vendors, to look values up in. */
export const masterTable: Decider<MasterTableKind> = {
  initialState: { versions: [], removed_at: null },
  decide: (state, command) => {
    if (command.type === 'PublishTable') return publish(state, command);
    const [first] = state.versions;
    if (first === undefined) return reject(NOT_FOUND);
    if (state.removed_at !== null) return accept();
    const { table_id, tenant_id } = first;
    return accept({ type: 'TableRemoved', data: { table_id, tenant_id, removed_at: command.meta.now } });
  },
  evolve: (state, { type, data }) =>
    type === 'TablePublished'
      ? { ...state, versions: [...state.versions, data] }
      : { ...state, removed_at: data.removed_at },
};

export const tableStream = (tableId: string): string => `table-${tableId}`;

/** Rows lie by table and digest: `tables/<table>/<sha256>`. */
export const TABLES_PREFIX = 'tables/';

export const tableFolderOf = (tableId: string): string => `${TABLES_PREFIX}${tableId}/`;

export const tableKeyOf = (tableId: string, sha256: string): string => `${tableFolderOf(tableId)}${sha256}`;

/** Bytes of all that a table keeps: versions of one content are kept once. */
export const keptBytes = (versions: readonly Pick<TableVersion, 'sha256' | 'bytes'>[]): number =>
  [...new Map(versions.map(({ sha256, bytes }) => [sha256, bytes])).values()].reduce(
    (sum, bytes) => sum + bytes,
    0,
  );

const header = z.object({ columns: z.array(z.string()) });

/** The names of the columns, from an event whose texts are in place; none: they are erased. */
export const columnsOf = ({ header: kept }: Pick<TableVersion, 'header'>): readonly string[] =>
  kept === null ? [] : header.parse(kept).columns;
