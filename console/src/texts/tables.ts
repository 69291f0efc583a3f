import { isolated } from './shell.ts';

/** Words of the page "Tables". */
export const tables = {
  title: 'Tables',
  say: 'Your own lists, such as vendors or articles, in which saved configs look values up.',
  list: 'Tables of master data',
  empty: {
    title: 'No tables yet',
    say: 'Upload a list of vendors or articles; a saved config then finds the row that a value is.',
  },
  columns: {
    name: 'Name',
    columns: 'Columns',
    rows: 'Rows',
    version: 'Version',
    bytes: 'Bytes',
    published: 'Published',
    by: 'By',
  },
  unnamed: 'Unnamed',
  back: 'All tables',
  version: 'Version',
  versionOf: (version: number, isLatest: boolean) =>
    `Version ${String(version)}${isLatest ? ' (latest)' : ''}`,
  rows: 'Rows',
  noRows: { title: 'No rows', say: 'The file had the names of columns alone.' },
  /** Of a column whose name is empty. */
  column: (at: number) => `Column ${String(at)}`,
  facts: { id: 'Table ID', published: 'Published', by: 'By', sha256: 'Digest' },
  upload: {
    first: 'Upload a table',
    next: 'Upload a new version',
    say: 'CSV, or the first sheet of an XLSX workbook. The first row has the names of the columns.',
    nextSay: 'A version replaces all rows. Results that an earlier one decided still name that one.',
    drop: 'Drop a CSV or XLSX file here',
    chosen: (name: string) => `${isolated(name)} is chosen`,
    dropSay: 'At most 100,000 rows, 100 columns and 20 MiB. Formulas are not computed.',
    choose: 'Choose a file',
    none: 'Choose a file first.',
    name: 'Name (optional)',
    nameSay: 'Empty: the name of the file.',
    nextNameSay: 'Empty: the name that it has.',
    tooLong: 'At most 200 characters.',
    submit: 'Upload',
    done: (name: string, version: number) => `${isolated(name)}: version ${String(version)} was published.`,
    same: 'The file has the same rows and name as the latest version: no version was made.',
  },
  remove: {
    open: 'Delete',
    title: (name: string) => `Delete ${isolated(name)}?`,
    say: 'The rows of all versions go for good. Look-ups of saved configs in it find nothing from then on.',
    submit: 'Delete the table',
    done: 'The table was deleted.',
  },
} as const;
