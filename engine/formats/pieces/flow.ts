import type { Block, Document, DocumentPage, DocumentWarning } from '../../document/document.ts';
import { linesOfBlock } from '../../document/markupLines.ts';
import { groupedBy } from '../../kernel/lists.ts';
import { charactersIn, pagesOf, shareOf } from '../../document/pages.ts';
import { stretchesOf } from './blockStretches.ts';
import type { OpenedDocument } from './opened.ts';
import { pageCutsOf, type FlowBlock, type Shares } from './pageCuts.ts';

const READ = { status: 'ok', detail: null } as const;
const NOTHING_ON_IT = { status: 'empty', detail: 'There is nothing on this page.' } as const;

/** A page of a format that has no geometry. */
export const markupPage = ({
  page,
  blocks,
  lines,
}: Pick<DocumentPage, 'page' | 'blocks' | 'lines'>): DocumentPage => ({
  page,
  width: null,
  height: null,
  ...(lines.length === 0 ? NOTHING_ON_IT : READ),
  source: 'markup',
  lines,
  blocks,
});

interface Flow {
  readonly mimeType: string;
  readonly blocks: readonly Block[];
  /** The characters that its pages are counted by; left out: those of its blocks' text, each line's end as one. */
  readonly characters?: number;
  readonly warnings?: readonly DocumentWarning[];
}

/**
 * A document that is one flow of blocks, cut where its pages end. They are one per started 3,000 characters, and
 * fewer only where one would have nothing on it: their number is what is counted and billed.
 */
export function flowDocument({ mimeType, blocks, characters, warnings = [] }: Flow): Document {
  const flow: FlowBlock[] = [];
  let length = 0;
  for (const block of blocks) {
    const lines = linesOfBlock(block);
    flow.push({ block, lines });
    for (const { text } of lines) length += charactersIn(text) + 1;
    if (length > FLOW_CHARACTERS_MAX) break;
  }
  const pages = pagesOf({ by: 'characters', characters: characters ?? length });
  const paged = pagedFlow(flow, { pages, share: shareOf(pages, length) });
  const all = paged.map((own, index) =>
    markupPage({
      page: index + 1,
      blocks: own.map(({ block }) => block),
      lines: own.flatMap(({ lines }) => lines),
    }),
  );
  return { mimeType, pages: all, warnings: length === 0 ? [...warnings, NO_TEXT] : warnings };
}

/** Opens a document that is one flow of blocks. */
export const openFlow = (flow: Flow): OpenedDocument => openedFlow(flowDocument(flow));

/** A document that is read and cut into its pages already. */
export const openedFlow = (document: Document): OpenedDocument => ({
  kind: 'open',
  mimeType: document.mimeType,
  pages: document.pages.length,
  read: () => Promise.resolve({ kind: 'ok', document }),
});

/** Ten thousand pages, far more than an operation reads: of what has more, no more is laid out to be counted. */
const FLOW_CHARACTERS_MAX = 30_000_000;

const NO_TEXT: DocumentWarning = { code: 'no_text_found', message: 'The document has no text.' };

/** The blocks of each page. */
function pagedFlow(flow: readonly FlowBlock[], of: Shares): readonly (readonly FlowBlock[])[] {
  const cuts = groupedBy(pageCutsOf(flow, of), ({ block }) => block);
  let page: FlowBlock[] = [];
  const pages = [page];
  for (const [index, whole] of flow.entries()) {
    const own = cuts.get(index) ?? [];
    const amid = own.filter(({ line, at }) => line + at > 0);
    if (amid.length < own.length) pages.push((page = []));
    const [head = whole, ...rest] = amid.length === 0 ? [] : stretchesOf(whole.block, amid);
    page.push(head);
    for (const stretch of rest) pages.push((page = [stretch]));
  }
  return pages;
}
