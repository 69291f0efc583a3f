import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { calendarMonth } from '../../domain/books.ts';
import type { JournalSettings } from '../../domain/journal.ts';
import { absentAsUndefined } from '../../domain/kernel/json.ts';
import { decimalOf } from '../../domain/kernel/amounts.ts';
import type { KnownLog } from '../../domain/ports/log.ts';
import type { Sql } from '../../projections/engine/ports.ts';
import { generations, hasRegistry } from '../../projections/engine/registry.ts';
import { balancesProjector } from '../../projections/balances.ts';
import { grantsProjector } from '../../projections/grants.ts';
import { ledgerProjector } from '../../projections/ledger.ts';
import { openingsIn } from '../queries/log.ts';
import { marginProjector } from '../../projections/margin.ts';
import { paymentsProjector } from '../../projections/paymentLines.ts';
import { booksIn } from '../commands/money/books.ts';
import { digestOf, type ExportFormat, FORMATS, inPlace, summing, textFile } from '../exports/exportFile.ts';
import { EXPORT_NAMES, EXPORTS, type ExportRow } from '../exports/exports.ts';
import {
  JOURNAL_LAYOUTS,
  type JournalLayout,
  laidOut,
  layoutFile,
  layoutFormat,
} from '../exports/journalLayouts.ts';
import { entryPages, journalEntries } from '../../projections/journal.ts';
import { type Operation } from './socket.ts';
import { OperatorError } from '../clientConfig.ts';

const LAYOUTS = ['generic', ...JOURNAL_LAYOUTS] as const;

const exportInput = z.strictObject({
  what: z.enum(EXPORT_NAMES),
  month: calendarMonth,
  layout: z.enum(LAYOUTS),
});

export type ExportInput = z.output<typeof exportInput>;

/** What the rows of an export are of; sent before them. */
interface About {
  readonly month: string;
  readonly is_closed: boolean;
  /** Of the line that closed the month; of an open one, up to which position of the log the rows are. */
  readonly position: string | null;
  /** What binds the figures of a closed month to the log. */
  readonly digest: string | null;
}

/** The last item of a file that is laid out. */
interface Totals {
  readonly rows: number;
  readonly sums: Readonly<Record<string, string>>;
}

/** One item of the answer. */
type Item =
  | { readonly about: About }
  | { readonly rows: readonly ExportRow[] }
  | { readonly text: string }
  | { readonly totals: Totals };

interface ExportParts {
  readonly sql: Sql;
  readonly feed: KnownLog;
  readonly journal: JournalSettings;
}

/** Up to which position the read models have what is exported; null: nothing yet. */
const readUpTo = async (sql: Sql): Promise<bigint | null> => {
  if (!(await hasRegistry(sql))) return null;
  const names = [
    ...[marginProjector, paymentsProjector, balancesProjector, grantsProjector, ledgerProjector].map(
      ({ name }) => name,
    ),
  ];
  const positions = (await generations(sql))
    .filter(({ name, serves }) => serves && names.includes(name))
    .map(({ position }) => position ?? 0n);
  return positions.length < names.length ? null : positions.reduce((a, b) => (a < b ? a : b));
};

const aboutMonth = async ({ sql, feed }: ExportParts, month: string): Promise<About> => {
  const position = await readUpTo(sql);
  const closing = (await booksIn(feed)).months.find((one) => one.month === month && one.closed !== null);
  if (closing === undefined)
    return { month, is_closed: false, position: position?.toString() ?? null, digest: null };
  if (position === null || position < closing.position)
    throw new OperatorError(
      'The read models do not have the closing of the month yet: run the command again, beside a running service.',
    );
  const { digest = null } = closing.closed ?? {};
  return { month, is_closed: true, position: String(closing.position), digest };
};

const ENTRIES_AT_ONCE = 1_000;

async function* laidOutItems(
  { sql, journal }: ExportParts,
  layout: JournalLayout,
  month: string,
): AsyncGenerator<Item> {
  const { start, textOf, totals } = laidOut(layout, { month, settings: journal });
  yield { text: start };
  const days = { from: `${month}-01`, to: `${month}-31` };
  for await (const entries of entryPages(journalEntries(sql), { ...days, limit: ENTRIES_AT_ONCE }))
    yield { text: entries.map(textOf).join('') };
  const { rows, debit } = totals();
  yield { totals: { rows, sums: { debit_usd: decimalOf(debit, 6), credit_usd: decimalOf(debit, 6) } } };
}

/** An export's rows of a month, or its text in a layout of others. */
export const exportMonth =
  (parts: ExportParts): Operation =>
  async (input, { send, signal }) => {
    const { what, month, layout } = exportInput.parse(input);
    const sent = (item: Item): Promise<void> => send(item);
    await sent({ about: await aboutMonth(parts, month) });
    if (layout !== 'generic') {
      for await (const item of laidOutItems(parts, layout, month)) await sent(item);
      return;
    }
    const openings = await openingsIn(parts.feed);
    for await (const rows of EXPORTS[what].pages(parts.sql, { month, settings: parts.journal, openings })) {
      signal.throwIfAborted();
      await sent({ rows });
    }
  };

/** A file of the manifest. Nothing in it is of the moment of the export. */
const exportedFile = z.strictObject({
  file: z.string(),
  export: z.enum(EXPORT_NAMES),
  /** Name and version of a format of others; null: ours. */
  format: z.string().nullable(),
  month: calendarMonth,
  is_closed: z.boolean(),
  position: z.string().nullable(),
  digest: z.string().nullable(),
  rows: z.number().int(),
  sums: z.record(z.string(), z.string()),
  bytes: z.number().int(),
  sha256: z.string(),
});

export type ExportedMonth = z.output<typeof exportedFile>;

const manifest = z.strictObject({ files: z.array(exportedFile) });

const MANIFEST = 'manifest.json';

const manifestIn = async (folder: string): Promise<readonly ExportedMonth[]> => {
  const text = await absentAsUndefined(readFile(join(folder, MANIFEST), 'utf8'));
  if (text === undefined) return [];
  const read = manifest.safeParse(JSON.parse(text));
  if (!read.success) throw new OperatorError(`${join(folder, MANIFEST)}: not a manifest of exports.`);
  return read.data.files;
};

/** Where and how an export is written. */
export interface ExportTarget extends ExportInput {
  readonly folder: string;
  readonly format: ExportFormat;
}

const nameOf = ({ what, month, layout, format }: ExportTarget): string =>
  layout === 'generic' ? `${what}-${month}.${format}` : layoutFile(layout, month);

/** Asks for the items of an export. */
type AskExport = (input: ExportInput, send: (item: unknown) => Promise<void>) => Promise<void>;

interface Written extends Totals {
  readonly about: About;
}

/** Writes what comes to a file that is not in its place yet. */
const written = async (part: string, target: ExportTarget, ask: AskExport): Promise<Written> => {
  const { what, month, layout, format } = target;
  const { columns } = EXPORTS[what];
  const counted = summing(columns);
  const file =
    layout === 'generic' ? { rows: await FORMATS[format](part, columns) } : { text: await textFile(part) };
  let about: About | undefined;
  let totals: Totals | undefined;
  const take = async (item: unknown): Promise<void> => {
    const one = item as Item;
    if ('about' in one) about = one.about;
    else if ('totals' in one) totals = one.totals;
    else if ('text' in one) await file.text?.add(one.text);
    else {
      counted.add(one.rows);
      await file.rows?.add(one.rows);
    }
  };
  try {
    await ask({ what, month, layout }, take);
  } finally {
    await (file.text ?? file.rows).end();
  }
  if (about === undefined) throw new OperatorError('The export did not finish; run it again.');
  return { about, ...(totals ?? { rows: counted.rows(), sums: counted.sums() }) };
};

const isSame = (before: ExportedMonth | undefined, now: ExportedMonth): boolean =>
  before?.sha256 === now.sha256 && before.position === now.position;

/**
 * Writes an export of a month into a folder, and what it is into the folder's manifest. A closed month has the same
 * bytes each time; an open one is written anew. Throws OperatorError where a closed month came out otherwise than the
 * manifest says for the same closing.
 */
export const writeExport = async (
  target: ExportTarget,
  ask: AskExport,
): Promise<{ readonly exported: ExportedMonth; readonly isUnchanged: boolean }> => {
  const { folder, what, month, layout } = target;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const files = await manifestIn(folder);
  const file = nameOf(target);
  const before = files.find((one) => one.file === file);
  const path = join(folder, file);
  const exported = await inPlace(path, async (part): Promise<ExportedMonth> => {
    const { about, rows, sums } = await written(part, target, ask);
    const facts = await digestOf(part);
    const format = layout === 'generic' ? EXPORTS[what].format : layoutFormat(layout);
    const { is_closed, position, digest } = about;
    return { file, export: what, format, month, is_closed, position, digest, rows, sums, ...facts };
  });
  const others = files.filter((one) => one.file !== file);
  const all = [...others, exported].toSorted((a, b) => (a.file < b.file ? -1 : 1));
  await inPlace(join(folder, MANIFEST), (part) =>
    writeFile(part, `${JSON.stringify({ files: all }, null, 2)}\n`, { mode: 0o600 }),
  );
  const isUnchanged = isSame(before, exported);
  const isSameClosing = exported.is_closed && before?.is_closed === true && before.digest === exported.digest;
  if (isSameClosing && !isUnchanged)
    throw new OperatorError(
      `${path}: the month is closed as it was, and the file is another one than before. Look at the accounts in ` +
        'JOURNAL and at the release, and run `quire audit`.',
    );
  return { exported, isUnchanged };
};
