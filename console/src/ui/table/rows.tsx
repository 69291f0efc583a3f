import type { SortingState } from '@tanstack/react-table';
import { ArrowDown, ArrowUp } from '../icons/icons.tsx';
import type { ReactNode } from 'react';
import { classes } from '../classes.ts';

/** One column: what it is called, the value that it sorts, filters and exports by, and how it is shown. */
export interface Column<Item> {
  readonly id: string;
  readonly name: string;
  readonly value: (item: Item) => string | number | boolean | null | undefined;
  /** Left out: the value as text. */
  readonly show?: (item: Item) => ReactNode;
  /** Numbers and money stand at the right. */
  readonly isNumber?: boolean;
  /** Share of the width; 1 where left out. */
  readonly share?: number;
}

/** Pixels of each row. */
export const ROW_HEIGHT = 36;

const DIRECTIONS = { asc: 'ascending', desc: 'descending' } as const;

interface HeadProps<Item> {
  readonly columns: readonly Column<Item>[];
  readonly template: string;
  readonly sorting: SortingState;
  readonly onSort: (id: string) => void;
}

/** The columns' names; each sorts by its column. */
export function Head<Item>({ columns, template, sorting, onSort }: HeadProps<Item>) {
  return (
    <div
      role="row"
      aria-rowindex={1}
      className="sticky top-0 z-10 grid border-b border-line bg-sunken"
      style={{ gridTemplateColumns: template }}
    >
      {columns.map(({ id, name, isNumber }) => {
        const sorted = sorting.find((sort) => sort.id === id);
        const direction = sorted === undefined ? undefined : sorted.desc ? 'desc' : 'asc';
        return (
          <div
            key={id}
            role="columnheader"
            aria-sort={direction === undefined ? 'none' : DIRECTIONS[direction]}
            className={classes('flex min-w-0 px-3 py-1.5', isNumber === true && 'justify-end')}
          >
            <button
              type="button"
              onClick={() => onSort(id)}
              className={classes(
                'inline-flex min-w-0 items-center gap-1',
                'truncate text-[13px] font-medium text-soft hover:text-ink',
              )}
            >
              {name}
              {direction === 'asc' && <ArrowUp aria-hidden className="size-3" />}
              {direction === 'desc' && <ArrowDown aria-hidden className="size-3" />}
            </button>
          </div>
        );
      })}
    </div>
  );
}

interface LineProps<Item> {
  readonly id: string;
  readonly columns: readonly Column<Item>[];
  readonly item: Item;
  readonly at: { readonly index: number; readonly start: number; readonly template: string };
  readonly isActive: boolean;
  readonly canOpen: boolean;
  readonly onChoose: () => void;
}

/** One row, at its place among all. */
export function Line<Item>({ id, columns, item, at, isActive, canOpen, onChoose }: LineProps<Item>) {
  return (
    <div
      id={id}
      role="row"
      aria-rowindex={at.index + 2}
      aria-selected={isActive}
      onClick={onChoose}
      className={classes(
        'absolute inset-x-0 grid items-center border-b border-line/60 hover:bg-sunken',
        canOpen && 'cursor-pointer',
        isActive && 'group-focus-visible/grid:bg-accent-soft',
      )}
      style={{
        gridTemplateColumns: at.template,
        height: ROW_HEIGHT,
        transform: `translateY(${String(at.start)}px)`,
      }}
    >
      {columns.map(({ id: column, value, show, isNumber }) => (
        <div
          key={column}
          role="gridcell"
          className={classes('min-w-0 truncate px-3', isNumber === true && 'text-right')}
        >
          {show === undefined ? String(value(item) ?? '–') : show(item)}
        </div>
      ))}
    </div>
  );
}
