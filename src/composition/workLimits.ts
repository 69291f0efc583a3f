export {
  DOCUMENT_PAGES_MAX as PAGES_MAX,
  OPERATION_PAGES_MAX as LONG_PAGES_MAX,
} from '../../domain/billingConfig.ts';

export const INSPECT_DEADLINE_MS = 20_000;
/** Of a conversion with the calls of models in it; from the command line, of one without. */
export const CONVERT_DEADLINE_MS = 300_000;
/** Of teaching the local engine; reading the examples has its own deadlines. */
export const LEARN_DEADLINE_MS = 1_800_000;
/** Of an extraction with the calls of models in it; from the command line, of one without. */
export const EXTRACT_DEADLINES_MS = { fast: 60_000, standard: 300_000, robust: 600_000 };
