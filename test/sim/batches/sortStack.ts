import { chosenPages } from '@quire/engine/document/pages';
import type { DocumentPart } from '@quire/engine/ports/sorting';
import type { PackedDocument } from '@quire/engine/document/document';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import { asked } from '../../support/delivery.ts';
import { type SortDeps, sortByFields, sortDocument } from '../../../src/commands/sortDocument.ts';
import type { ExtractRequest } from '../../../src/commands/extract.ts';
import type { WorkAnswer } from '../../../src/commands/work.ts';
import type { FileFacts, ProcessEnv } from '../env.ts';

/** Documents in a stack are of one of these in turn; what is of none goes nowhere. */
const CLASSES = ['A', 'B', null] as const;
/** How the parts of each class are read. */
const MODE_OF = { A: 'standard', B: 'fast' } as const;

interface Part {
  readonly pages: readonly number[];
  readonly class: (typeof CLASSES)[number];
}

/** Pages of each document of a stack that go on, in their order: as a machine tells them, or a person who joins two. */
export const partsIn = ({ parts = [] }: FileFacts, isJoined = false): readonly Part[] => {
  let page = 1;
  const told = parts.map((count, at) => {
    const pages = Array.from({ length: count }, () => page++);
    return { pages, class: CLASSES[at % CLASSES.length]! };
  });
  const [first, second, ...others] = told;
  if (!isJoined || first === undefined || second === undefined) return told;
  return [{ ...first, pages: [...first.pages, ...second.pages] }, ...others];
};

/** Documents that a stack may be billed as, by their pages: itself, and whatever is sent on from it. */
export const billedOf = (file: FileFacts) => [
  { ...file, as: 'split' as const },
  ...[...partsIn(file), ...partsIn(file, true)].flatMap(({ pages, class: name }) =>
    name === null ? [] : [{ ...file, pages: pages.length, as: MODE_OF[name] }],
  ),
];

/** Pages that are chosen of a file. */
export const pagesRead = ({ pages: total }: FileFacts, pages: string | undefined): number => {
  const chosen = pages === undefined ? undefined : chosenPages(pages, total);
  if (chosen === undefined) return total;
  if (chosen.kind !== 'pages') throw new Error(`there are no pages ${String(pages)}`);
  return chosen.numbers.length;
};

/** What a result says of the file that it was made of; of a split, that of its stack. */
export const readingIn = (body: JsonObject): JsonObject | undefined => {
  const { result, documents, meta } = body;
  if (documents === undefined) return result as JsonObject | undefined;
  const { file_name, page_count } = meta as JsonObject;
  return { tag: file_name ?? null, pages: page_count ?? null, documents };
};

const bytesOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

const pageOf = (page: number): PackedDocument['pages'][number] => ({
  page,
  status: 'ok',
  source: 'markup',
  detail: null,
  width: 1,
  height: 1,
});

/** Reads a stack, and tells its documents; its answer names the run. */
export const sorterOn = ({
  fileAt,
  work,
  clock,
  die,
}: ProcessEnv): Pick<SortDeps, 'sorter' | 'tools'> & Pick<SortDeps['parser'], 'read'> => ({
  read: async ({ path }) => {
    const file = fileAt(path);
    await work('read');
    if (file.ends === 'deadly') await die();
    if (file.ends === 'badly') return { kind: 'unreadable', detail: 'it is broken' };
    const pages = Array.from({ length: file.pages }, (_, at) => pageOf(at + 1));
    const plain = { mimeType: 'text/plain', markdown: '', warnings: [], hasText: true };
    return { kind: 'ok', document: { ...plain, pages, packed: bytesOf(file) } };
  },
  sorter: {
    classify: () => Promise.reject(new Error('nobody asks what a file is')),
    split: async ({ document: { packed } }) => {
      const file = JSON.parse(new TextDecoder().decode(packed)) as FileFacts;
      await work('split');
      const reasons = [{ text: clock.uuid(), page: 1, bbox: null }];
      const documents = partsIn(file).map((part): DocumentPart => ({ ...part, confidence: 0.9, reasons }));
      return { kind: 'ok', documents };
    },
  },
  tools: { joined: () => Promise.reject(new Error('no stack is long')) },
});

/** Splits a stack, and sends its parts to the configs of their classes. */
export const splitsOn = (
  deps: SortDeps,
  extract: (request: ExtractRequest) => Promise<WorkAnswer>,
  { reviewed }: { readonly reviewed: boolean },
) => {
  const sort = sortByFields({
    savedConfigs: { resolve: () => Promise.reject(new Error('no class has a schema')) },
    sort: sortDocument(deps),
    extract: (fields, work) =>
      extract({ ...asked(1), ...work, mode: MODE_OF[fields.config_id as keyof typeof MODE_OF] }),
  });
  const names = Object.keys(MODE_OF);
  const wanted = {
    what: 'split',
    classes: names.map((name) => ({ name })),
    then: new Map(names.map((name) => [name, name])),
    ...(reviewed && { review: { sample: 1 } }),
  } as const;
  return (work: Parameters<typeof sort>[1]) => sort(wanted, work);
};
