import { RECOGNITION_ENGINES, type RecognitionEngine } from '../document/document.ts';
import type { ParseEffort } from '../ports/documentParser.ts';
import { allowanceFor, type Hurry } from './allowance.ts';
import type { RecogniseOptions } from './recogniseImage.ts';

/** What a request and the configuration say of recognition. */
export interface RecognitionWish {
  readonly effort: ParseEffort;
  /** Tesseract's names, the most likely first. */
  readonly languages: readonly string[];
  /** Left out: all that are installed. */
  readonly engines?: readonly RecognitionEngine[] | undefined;
  /** Of the whole document; left out: as long as a request in `standard` has. */
  readonly deadlineMs?: number | undefined;
  /** Of the process that recognises. */
  readonly hurry?: Hurry | undefined;
}

/** How much is done for a document with so many pages to be recognised: `fast` takes one look, `robust` all. */
export function recognitionOf(wish: RecognitionWish, pages: number): RecogniseOptions {
  const { effort, languages, engines = RECOGNITION_ENGINES, deadlineMs, hurry } = wish;
  const hasFirst = engines.includes('tesseract');
  return {
    languages,
    engines: effort === 'fast' && hasFirst ? ['tesseract'] : engines,
    thorough: effort !== 'fast' || !hasFirst,
    secondLook: effort !== 'fast',
    both: effort === 'robust' || !hasFirst,
    allowance: allowanceFor(pages, deadlineMs),
    hurry,
  };
}
