import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DocumentPage } from '../../engine/document/document.ts';
import { groupedBy } from '../../engine/kernel/lists.ts';
import type { DocumentWorkers } from '../../engine/isolation/documentWorkers.ts';
import { unpacked } from '../../engine/ports/packing.ts';
import { CORPUS, corpusItems, readItem } from './corpus.ts';
import { generated, KINDS } from './generated.ts';
import type { Random } from './random.ts';

/** A document of a kind, as it lies in a stack. */
export interface Sheaf {
  readonly kind: string;
  readonly pages: readonly DocumentPage[];
}

/** Sheaves one on the other, with their pages numbered anew. */
export interface Stack {
  readonly sheaves: readonly Sheaf[];
  readonly pages: readonly DocumentPage[];
  /** Numbers of the pages that a sheaf begins with, but the first. */
  readonly begins: ReadonlySet<number>;
}

/** Sets of the corpus by kind. Weights are fitted on the first ones; the others only judge. */
export const KINDS_OF_SETS: Readonly<Record<string, string>> = {
  'zugferd learn': 'invoice',
  'kleister-nda learn': 'nda',
  'adbuy learn': 'adbuy',
  'eb 10kq': 'report',
  'eb credit_agreement': 'loan',
};
export const JUDGED_SETS: Readonly<Record<string, string>> = {
  zugferd: 'invoice',
  invoice2data: 'invoice',
  'kleister-nda': 'nda',
  adbuy: 'adbuy',
  sroie: 'receipt',
  'sroie learn': 'receipt',
  fara: 'registration',
  'fara learn': 'registration',
  'eb research': 'paper',
  'eb resume': 'resume',
  'eb swimming': 'swimming',
};
/** Kinds that no weight was fitted on. */
export const UNSEEN = new Set(['receipt', 'registration', 'paper', 'resume', 'swimming', 'other']);

/** A document that is longer is left out: it would be all of a stack. */
const SHEAF_PAGES_MAX = 120;

/** Documents of the corpus by set; those that cannot be read or are too long are left out. */
export async function sheavesOf(
  sets: Readonly<Record<string, string>>,
  workers: DocumentWorkers,
): Promise<readonly Sheaf[]> {
  const sheaves: Sheaf[] = [];
  for (const item of corpusItems() ?? []) {
    const kind = sets[item.set];
    if (kind === undefined) continue;
    const document = await readItem(item, workers);
    if (document === undefined || document.pages.length > SHEAF_PAGES_MAX) continue;
    sheaves.push({ kind, pages: unpacked(document.packed).pages });
  }
  return sheaves;
}

/** Documents of the corpus of which there are few of a kind: every other one to fit weights, the rest to judge. */
export async function otherSheaves(workers: DocumentWorkers, isJudge: boolean): Promise<readonly Sheaf[]> {
  const folders = ['docubench/documents', 'documents/conversion'];
  const files = folders.flatMap((folder) =>
    readdirSync(join(CORPUS, folder))
      .filter((name) => /\.pdf$/.test(name))
      .filter((_, at) => (at % 2 === 0) === isJudge)
      .map((name) => join(CORPUS, folder, name)),
  );
  const sheaves: Sheaf[] = [];
  for (const file of files) {
    const document = await readItem({ file }, workers);
    if (document === undefined || document.pages.length > SHEAF_PAGES_MAX) continue;
    sheaves.push({ kind: 'other', pages: unpacked(document.packed).pages });
  }
  return sheaves;
}

/** Generated documents of all kinds. */
export const generatedSheaves = (each: number, from: number): readonly Sheaf[] =>
  KINDS.flatMap((kind) =>
    Array.from({ length: each }, (_, n) => ({
      kind: `generated ${kind}`,
      pages: generated(kind, from + n).document.pages,
    })),
  );

export function stackOf(sheaves: readonly Sheaf[]): Stack {
  const begins = new Set<number>();
  const pages: DocumentPage[] = [];
  for (const sheaf of sheaves) {
    if (pages.length > 0) begins.add(pages.length + 1);
    for (const page of sheaf.pages) pages.push({ ...page, page: pages.length + 1 });
  }
  return { sheaves, pages, begins };
}

/** Stacks of 2 to 30 documents: every third of one kind, the others of all kinds alike. */
export function stacksOf(sheaves: readonly Sheaf[], count: number, random: Random): readonly Stack[] {
  const byKind = groupedBy(sheaves, ({ kind }) => kind);
  const kinds = [...byKind.keys()];
  return Array.from({ length: count }, (_, n) => {
    const length = random.int(2, 30);
    const alone = n % 3 === 0 ? random.pick(kinds) : undefined;
    const drawn = Array.from({ length }, () => random.pick(byKind.get(alone ?? random.pick(kinds)) ?? []));
    return stackOf([...new Set(drawn)]);
  }).filter(({ sheaves: own }) => own.length > 1);
}
