import {
  getCoreRowModel,
  getFilteredRowModel,
  getSortedRowModel,
  useReactTable,
  type ColumnDef,
  type SortingState,
} from '@tanstack/react-table';
import { useEffect, useMemo, useState, type ReactNode } from 'react';
import type { Pages, Wanted } from '../api/connection.ts';

/** One column: what it is called, the value that it sorts, filters and exports by, and how it is shown. */
export interface Column<Item> {
  readonly id: string;
  readonly name: string;
  readonly value: (item: Item) => string | number | boolean | null | undefined;
  /** Left out: the value as text. */
  readonly show?: (item: Item) => ReactNode;
  /** Numbers and money stand at the right, and are never cut. */
  readonly isNumber?: boolean;
  /** Never cut, as times and buttons: the column gets as wide as they are. */
  readonly isWhole?: boolean;
  /** Share of the width; 1 where left out. */
  readonly share?: number;
}

/** The rows of a table: a list of the service as far as it is loaded, or items that are all here. */
export interface Rows<Item> {
  readonly columns: readonly Column<Item>[];
  readonly idOf: (item: Item) => string;
  readonly list?: Pages<Item>;
  /** All rows; undefined: being loaded. */
  readonly items?: readonly Item[] | undefined;
}

/** So many rows are seen at a glance: there is nothing to filter. */
const FEW = 3;

/** After the last letter, the service is asked for the rows, ms. */
const TYPING_MS = 200;

const columnsOf = <Item>(columns: readonly Column<Item>[]): ColumnDef<Item>[] =>
  columns.map(({ id, value }) => ({
    id,
    accessorFn: value,
    sortingFn: 'alphanumeric',
    sortUndefined: 'last',
  }));

const isAll = ({ q, sort }: Wanted): boolean => q === '' && sort === undefined;

/** Has the service sort and search a list of which only a part is here. */
const useAsked = (asking: Pages<unknown>['asking'], wanted: Wanted, isPart: boolean): void => {
  const { q, sort } = wanted;
  const { wanted: asked, ask } = asking ?? {};
  useEffect(() => {
    if (!isPart || ask === undefined || asked === undefined) return undefined;
    const isSameText = q === asked.q;
    if (isSameText && sort?.id === asked.sort?.id && sort?.desc === asked.sort?.desc) return undefined;
    const due = setTimeout(() => ask({ q, sort }), isSameText ? 0 : TYPING_MS);
    return () => clearTimeout(due);
  }, [q, sort?.id, sort?.desc, isPart, asked, ask]);
};

/** The rows that a table shows now, and what it can do with them. */
export interface TableRows<Item> {
  readonly rows: readonly Item[];
  readonly list: Pages<Item> | undefined;
  /** undefined: the first are being loaded. */
  readonly items: readonly Item[] | undefined;
  /** Rows that are here, filtered or not. */
  readonly all: number;
  /** Rows that there are, here or not. */
  readonly total: number;
  readonly isAtLeast: boolean;
  /** There is nothing, whatever one asks for. */
  readonly isEmpty: boolean;
  /** The rows were filtered or sorted here, not by the service. */
  readonly isChosenHere: boolean;
  readonly filter: string;
  readonly setFilter: (text: string) => void;
  readonly canFilter: boolean;
  readonly sorting: SortingState;
  readonly canSort: (id: string) => boolean;
  readonly toggleSort: (id: string) => void;
}

/**
 * Rows in the order and by the filter that a person chose. A list that is here as a whole is sorted and filtered here,
 * as soon as a letter is typed. Of a list with more rows the service does it: a part would give wrong answers.
 */
export const useTableRows = <Item>({ columns, idOf, list, items = list?.items }: Rows<Item>): TableRows<Item> => {
  const [sorting, setSorting] = useState<SortingState>([]);
  const [filter, setFilter] = useState('');
  const asking = list?.asking;
  const hasMore = list?.more !== undefined;
  const isPart = hasMore || (asking !== undefined && !isAll(asking.wanted));
  useAsked(asking, { q: filter.trim(), sort: sorting[0] }, isPart);
  const table = useReactTable<Item>({
    data: useMemo(() => [...(items ?? [])], [items]),
    columns: useMemo(() => columnsOf(columns), [columns]),
    state: { sorting, globalFilter: filter },
    onSortingChange: setSorting,
    onGlobalFilterChange: setFilter,
    globalFilterFn: 'includesString',
    manualSorting: isPart,
    manualFiltering: isPart,
    getRowId: (item) => idOf(item),
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
    getFilteredRowModel: getFilteredRowModel(),
  });
  const model = table.getRowModel().rows;
  const all = items?.length ?? 0;
  return {
    ...{ list, items, all, filter, setFilter, sorting },
    rows: useMemo(() => model.map(({ original }) => original), [model]),
    total: Math.max(all, list?.total ?? 0),
    isAtLeast: list?.isAtLeast === true,
    isEmpty: all === 0 && !isPart,
    isChosenHere: !isPart && (filter !== '' || sorting.length > 0),
    canFilter: isPart ? asking !== undefined : all > FEW || filter !== '',
    canSort: (id) => !isPart || asking?.sorts.includes(id) === true,
    toggleSort: (id) => table.getColumn(id)?.toggleSorting(),
  };
};
