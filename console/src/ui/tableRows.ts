import {
  getCoreRowModel,
  getFilteredRowModel,
  getSortedRowModel,
  useReactTable,
  type ColumnDef,
  type SortingState,
} from '@tanstack/react-table';
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
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
const textOf = ({ sort }: Wanted): string => JSON.stringify([sort?.id, sort?.desc]);

/** Has the service sort and search a list of which only a part is here. */
const useAsked = (asking: Pages<unknown>['asking'], wanted: Wanted, isPart: boolean): void => {
  const now = useRef(wanted);
  useEffect(() => {
    now.current = wanted;
  });
  const { q } = wanted;
  const order = textOf(wanted);
  useEffect(() => {
    if (!isPart || asking === undefined) return undefined;
    const isSameText = q === asking.wanted.q;
    if (isSameText && order === textOf(asking.wanted)) return undefined;
    const due = setTimeout(() => asking.ask(now.current), isSameText ? 0 : TYPING_MS);
    return () => clearTimeout(due);
  }, [q, order, isPart, asking]);
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

interface Chosen<Item> {
  readonly columns: readonly Column<Item>[];
  readonly idOf: (item: Item) => string;
  readonly items: readonly Item[] | undefined;
  /** The service sorts and filters them. */
  readonly isPart: boolean;
}

/** The items in the order and by the filter that a person chose. */
const useChosen = <Item>({ columns, idOf, items, isPart }: Chosen<Item>) => {
  const [sorting, setSorting] = useState<SortingState>([]);
  const [filter, setFilter] = useState('');
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
  const rows = useMemo(() => model.map(({ original }) => original), [model]);
  const toggleSort = (id: string): void => table.getColumn(id)?.toggleSorting();
  return { rows, filter, setFilter, sorting, toggleSort };
};

/** Whether there are rows that are not here, or those here are what the service found. */
const isPartOf = ({ more, asking }: Pages<unknown>): boolean =>
  more !== undefined || (asking !== undefined && !isAll(asking.wanted));

/** What can be done with rows that are all here. */
const ofWhole = (all: number, { filter, sorting }: { filter: string; sorting: SortingState }) => ({
  isEmpty: all === 0,
  isChosenHere: filter !== '' || sorting.length > 0,
  canFilter: all > FEW || filter !== '',
  canSort: () => true,
});

/** What can be done with a part of a list: as much as the service does. */
const ofPart = ({ asking }: Pages<unknown>) => ({
  isEmpty: false,
  isChosenHere: false,
  canFilter: asking !== undefined,
  canSort: (id: string): boolean => asking?.sorts.includes(id) === true,
});

/**
 * Rows in the order and by the filter that a person chose. A list that is here as a whole is sorted and filtered here,
 * as soon as a letter is typed. Of a list with more rows the service does it: a part would give wrong answers.
 */
export const useTableRows = <Item>({
  columns,
  idOf,
  list,
  items = list?.items,
}: Rows<Item>): TableRows<Item> => {
  const isPart = list !== undefined && isPartOf(list);
  const chosen = useChosen({ columns, idOf, items, isPart });
  const { filter, sorting } = chosen;
  useAsked(list?.asking, { q: filter.trim(), sort: sorting[0] }, isPart);
  const all = items === undefined ? 0 : items.length;
  const can = isPart ? ofPart(list) : ofWhole(all, chosen);
  return { ...chosen, ...can, list, items, all, total: Math.max(all, list?.total ?? 0) };
};
