import type { Block } from '../../document/document.ts';
import { escapeText } from '../../document/inline.ts';
import { tableOf } from '../../document/tableGrid.ts';
import { openFlow } from '../flow.ts';
import type { OpenedDocument } from '../opened.ts';

/** A value under its label, as a reader is to see it. */
export interface Labelled {
  readonly label: string;
  readonly value: string;
}

/** A contact or an entry of a calendar, in the order in which its values are shown. */
export type ReadRecord = readonly Labelled[];

interface Records {
  readonly mimeType: string;
  /** Of all of them together; null where they have none. */
  readonly title: string | null;
  readonly records: readonly ReadRecord[];
}

/** Places of a table, filled or not: records that would need more are lines as well. */
const PLACES_MAX = 1_000_000;

/** Opens records: one as lines of labels and values, several as a table with a column for each label. */
export const openRecords = ({ mimeType, title, records }: Records): OpenedDocument =>
  openFlow({
    mimeType,
    blocks: [...(title === null ? [] : [heading(title)]), ...blocksOfRecords(records)],
  });

const heading = (text: string): Block => ({
  kind: 'heading',
  level: 1,
  text,
  markdown: escapeText(text),
  box: null,
});

const linesOf = (record: ReadRecord): readonly Block[] =>
  record.map(({ label, value }) => {
    const text = `${label}: ${value}`;
    return { kind: 'paragraph', text, markdown: escapeText(text), box: null };
  });

function blocksOfRecords(records: readonly ReadRecord[]): readonly Block[] {
  const columns = [...new Set(records.flatMap((record) => record.map(({ label }) => label)))];
  if (records.length < 2 || columns.length * records.length > PLACES_MAX) return records.flatMap(linesOf);
  if (columns.length === 0) return [];
  return [tableOf([columns, ...records.map((record) => rowOf(record, columns))], 1)];
}

function rowOf(record: ReadRecord, columns: readonly string[]): readonly string[] {
  const cells = new Map<string, string[]>();
  for (const { label, value } of record) {
    const cell = cells.get(label);
    if (cell === undefined) cells.set(label, [value]);
    else cell.push(value);
  }
  return columns.map((label) => (cells.get(label) ?? []).join('; ').replace(/\s+/g, ' '));
}
