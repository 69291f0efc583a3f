import { LOCAL_ENGINE_NAME, openDocumentWorkers } from '@quire/engine/isolation/documentWorkers';
import type { DocumentParser, ParseRequest } from '@quire/engine/ports/documentParser';
import type { ExtractionEngine, SchemaValidator } from '@quire/engine/ports/extractionEngine';
import type { Config } from '../../config.ts';
import { CONVERT_DEADLINE_MS, EXTRACT_DEADLINES_MS, PAGES_MAX } from '../workLimits.ts';

/** What reads documents without a service: the same isolated processes, under the same limits. */
export interface DocumentParts {
  /** What the service calls it in `meta.model`. */
  readonly model: string;
  readonly parser: DocumentParser;
  readonly engine: ExtractionEngine;
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
