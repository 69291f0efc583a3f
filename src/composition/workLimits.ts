import { DOCUMENT_PAGES_MAX, OPERATION_PAGES_MAX } from '../../domain/billingConfig.ts';

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
