import type { Document } from '../document/document.ts';
import { readThrough } from '../document/wholeBlocks.ts';
import { candidatesOf, conventionsOf, type Candidate, type Conventions } from './candidates.ts';
import { labelMatcher, type LabelMatcher } from './words/says.ts';
import type { ValueKind } from './words/concepts.ts';
import { layoutOf, type Layout, type Row } from './places/layout.ts';
import { once } from '../kernel/once.ts';
import type { Ablation } from './finding.ts';
import type { WhyLog } from './why.ts';

/** What is said of a reading beside its document and schema. */
export interface Looking extends Ablation {
  /** Keeps the offers of all judges; left out: nobody asked why. */
  readonly why?: WhyLog | undefined;
}

/** A document as the extractor sees it: laid out, with its typed values. */
export interface Source extends Looking {
  readonly document: Document;
  readonly layout: Layout;
  readonly conventions: Conventions;
  readonly candidates: ReadonlyMap<ValueKind, readonly Candidate[]>;
  readonly labels: LabelMatcher;
  /** Rows that examples taught to stand below a table. */
  readonly endsRows?: (row: Row) => boolean;
}

/** `asked` are the words of the schema's names. A text that runs over pages is read as one. */
export function sourceOf(
  document: Document,
  asked: readonly (readonly string[])[] = [],
  { why, without }: Looking = {},
): Source {
  const whole = readThrough(document);
  return { document: whole, ...laidOut(whole), labels: labelMatcher(asked), why, without };
}

/** What no schema changes: made once for a document, however many schemas are asked of it. */
const laidOut = once((document: Document) => {
  const layout = layoutOf(document);
  const conventions = conventionsOf(layout);
  return { layout, conventions, candidates: candidatesOf(layout, conventions) };
});
