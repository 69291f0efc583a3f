import type { NamedFile } from '../ui/download.tsx';
import { fileOf, XLSX } from '../api/connection.ts';
import { BOM, csvOf } from '../ui/csv.ts';
import { files as texts } from '../texts/files.ts';

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A list of rows, each with members: it becomes a table of its own. */
const isRows = (value: unknown): value is readonly Members[] =>
  Array.isArray(value) && value.length > 0 && value.every(isMembers);

type Cells = ReadonlyMap<string, unknown>;

/** Values by their path, such as `seller.name`; lists of single values are one cell, lists of rows are left out. */
export const cellsOf = (value: unknown, path = ''): Cells => {
  if (isRows(value)) return new Map();
  if (Array.isArray(value)) return new Map([[path, value.join('; ')]]);
  if (!isMembers(value)) return new Map([[path, value]]);
  return new Map(
    Object.entries(value).flatMap(([name, member]) => [
      ...cellsOf(member, path === '' ? name : `${path}.${name}`),
    ]),
  );
};

/** Lists of rows by their path. */
const listsIn = (value: unknown, path = ''): ReadonlyMap<string, readonly Members[]> => {
  if (isRows(value)) return new Map([[path, value]]);
  if (!isMembers(value)) return new Map();
  return new Map(
    Object.entries(value).flatMap(([name, member]) => [
      ...listsIn(member, path === '' ? name : `${path}.${name}`),
    ]),
  );
};

/** Rows of cells as CSV by which a spreadsheet knows UTF-8: a column for each path that any of them has. */
export const tableOf = (rows: readonly Cells[]): string => {
  const names = [...new Set(rows.flatMap((cells) => [...cells.keys()]))];
  return (
    BOM +
    csvOf(
      names,
      rows.map((cells) => names.map((name) => cells.get(name))),
    )
  );
};

const json = (value: unknown): string => JSON.stringify(value, undefined, 2);

/** The name of a file without its ending. */
const stemOf = (name: string): string => name.replace(/\.[^.]{1,5}$/, '');

const ofValues = (stem: string, data: Members, workbook: Workbook | undefined): readonly NamedFile[] => [
  { name: texts.data, file: `${stem}.json`, load: () => json(data) },
  { name: texts.csv, file: `${stem}.csv`, load: () => tableOf([cellsOf(data)]) },
  ...(workbook === undefined ? [] : [{ name: texts.xlsx, file: `${stem}.xlsx`, load: workbook }]),
  ...[...listsIn(data)].map(([path, rows]) => ({
    name: texts.list(path),
    file: `${stem}.${path}.csv`,
    load: () => tableOf(rows.map((row) => cellsOf(row))),
  })),
];

const ofText = (stem: string, { markdown, plain_text }: Members): readonly NamedFile[] =>
  typeof markdown !== 'string' || typeof plain_text !== 'string'
    ? []
    : [
        { name: texts.markdown, file: `${stem}.md`, load: () => markdown },
        { name: texts.text, file: `${stem}.txt`, load: () => plain_text },
      ];

/** Has the service write a workbook, a sheet for each list of rows. */
type Workbook = () => Promise<Blob>;

/** The values of a run as a workbook. */
export const workbookOf =
  (run_id: string): Workbook =>
  () =>
    fileOf('getRun', { path: { run_id } }, XLSX);

/** An answer as files that people keep: its data, its tables, its text, its citations and itself. */
export const filesOf = (answer: object, name: string, workbook?: Workbook): readonly NamedFile[] => {
  const members = answer as Members;
  const stem = stemOf(name);
  const { result } = members;
  const citations = isMembers(members['meta']) ? members['meta']['citations'] : undefined;
  const cited: readonly NamedFile[] = Array.isArray(citations)
    ? [{ name: texts.citations, file: `${stem}.citations.json`, load: () => json(citations) }]
    : [];
  return [
    ...(isMembers(result) ? ofValues(stem, result, workbook) : []),
    ...ofText(stem, members),
    ...cited,
    { name: texts.answer, file: `${stem}.answer.json`, load: () => json(answer) },
  ];
};
