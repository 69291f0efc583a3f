import type { KeyboardEvent } from 'react';

const VALUE = 'button[data-value]';

const valueIn = (place: Element | null | undefined): HTMLButtonElement | null =>
  place?.querySelector<HTMLButtonElement>(VALUE) ?? null;

/** The value beside, above or below in a table; undefined at its edge. */
const inTable = (cell: HTMLTableCellElement, key: string): HTMLButtonElement | null => {
  const line = cell.parentElement as HTMLTableRowElement;
  switch (key) {
    case 'ArrowLeft':
      return valueIn(cell.previousElementSibling);
    case 'ArrowRight':
      return valueIn(cell.nextElementSibling);
    case 'ArrowUp':
      return valueIn((line.previousElementSibling as HTMLTableRowElement | null)?.cells[cell.cellIndex]);
    default:
      return valueIn((line.nextElementSibling as HTMLTableRowElement | null)?.cells[cell.cellIndex]);
  }
};

/** The next value before or behind, outside of the table that is left. */
const outside = (tree: Element, from: HTMLButtonElement, by: 1 | -1): HTMLButtonElement | undefined => {
  const table = from.closest('table');
  const all = [...tree.querySelectorAll<HTMLButtonElement>(VALUE)].filter(
    (one) => one === from || table === null || !table.contains(one),
  );
  return all[all.indexOf(from) + by];
};

/** Arrow keys go from value to value, in tables from cell to cell. */
export const walk = (event: KeyboardEvent<HTMLElement>): void => {
  const { key, target, currentTarget } = event;
  if (!key.startsWith('Arrow') || !(target instanceof HTMLButtonElement) || !target.matches(VALUE)) return;
  const cell = target.closest('td');
  const isUpOrDown = key === 'ArrowUp' || key === 'ArrowDown';
  const next =
    (cell === null ? null : inTable(cell, key)) ??
    (isUpOrDown ? outside(currentTarget, target, key === 'ArrowDown' ? 1 : -1) : undefined);
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
};
