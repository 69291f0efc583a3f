import { LOCAL_ENGINE_NAME, openDocumentWorkers } from '@quire/engine/isolation/documentWorkers';
import type { DocumentParser, ParseRequest } from '@quire/engine/ports/documentParser';
import type { ExtractionEngine } from '@quire/engine/ports/extractionEngine';
import type { SchemaValidator } from '@quire/engine/ports/extractionEngine';
import type { DocumentSorter } from '@quire/engine/ports/sorting';
import { DOCUMENT_PAGES_MAX, OPERATION_PAGES_MAX } from '../../domain/billingConfig.ts';
import type { Config } from '../config.ts';

/** Of a document that a request waits for. */
export const PAGES_MAX = DOCUMENT_PAGES_MAX;
/** Of a document that an operation works on. */
export const LONG_PAGES_MAX = OPERATION_PAGES_MAX;

export const INSPECT_DEADLINE_MS = 20_000;
/** Of a conversion with the calls of models in it; from the command line, of one without. */
export const CONVERT_DEADLINE_MS = 300_000;
/** Of teaching the local engine; reading the examples has its own deadlines. */
export const LEARN_DEADLINE_MS = 1_800_000;
/** Of an extraction with the calls of models in it; from the command line, of one without. */
export const EXTRACT_DEADLINES_MS = { fast: 60_000, standard: 300_000, robust: 600_000 };

/** What reads documents without a service: the same isolated processes, under the same limits. */
export interface DocumentParts {
  /** Its name in `meta.model`. */
  readonly model: string;
  readonly parser: DocumentParser;
  readonly engine: ExtractionEngine;
  readonly sorter: DocumentSorter;
  readonly schemas: SchemaValidator;
  readonly limits: {
    /** Bytes of one file. */
    readonly bytesMax: number;
    readonly pagesMax: number;
    readonly convertMs: number;
    readonly extractMs: Readonly<Record<ParseRequest['effort'], number>>;
  };
  /** Ends what runs: its answer is `aborted`. */
  readonly close: () => Promise<void>;
}

/** Opens neither a port nor a data folder. `jobs`: documents read at the same time, default one a core. */
export const openDocumentParts = (
  {
    ocrLanguages,
    ocrEngines,
    maxUploadBytes,
  }: Pick<Config, 'ocrLanguages' | 'ocrEngines' | 'maxUploadBytes'>,
  jobs: number | undefined,
): DocumentParts => {
  const workers = openDocumentWorkers({
    ocrLanguages,
    ocrEngines,
    ...(jobs !== undefined && { processes: jobs }),
  });
  return {
    model: LOCAL_ENGINE_NAME,
    parser: workers.parser,
    engine: workers.localEngine,
    sorter: workers.sorter,
    schemas: workers.schemaValidator,
    limits: {
      bytesMax: maxUploadBytes,
      pagesMax: PAGES_MAX,
      convertMs: CONVERT_DEADLINE_MS,
      extractMs: EXTRACT_DEADLINES_MS,
    },
    close: () => workers.close(),
  };
};
