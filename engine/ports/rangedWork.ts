import type { ParseRequest, RenderRequest, RenderResult } from './documentParser.ts';
import type { ExtractionRequest, ExtractionResult } from './extractionEngine.ts';

/** Where the parts of a long document lie until all are there: not in memory, and beyond the end of a process. */
export interface PartShelf {
  /** undefined where it was not put yet. */
  readonly find: (name: string) => Promise<Uint8Array | undefined>;
  readonly put: (name: string, bytes: Uint8Array) => Promise<void>;
}

/** A document that is read in ranges of its pages. */
export type Ranged<Request extends ParseRequest> = Omit<Request, 'kept' | 'pages'> & {
  /** The pages to read, by their numbers, which rise. */
  readonly numbers: readonly number[];
  readonly shelf: PartShelf;
  /** Told how many pages are done, of those in `numbers`. */
  readonly onPages: (done: number) => void;
};

/**
 * Work on long PDFs: ranges of their pages are read by several processes, and joined in order. Parts that are
 * on the shelf already are not made again.
 */
export interface RangedWork {
  render(request: Ranged<RenderRequest>): Promise<RenderResult>;
  extract(request: Ranged<ExtractionRequest>): Promise<ExtractionResult>;
}
