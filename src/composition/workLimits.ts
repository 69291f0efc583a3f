export { DOCUMENT_PAGES_MAX as PAGES_MAX } from '../../domain/billingConfig/limits.ts';

export const INSPECT_DEADLINE_MS = 20_000;
/** A hundred dense pages of scan take about four minutes to recognise. */
export const CONVERT_DEADLINE_MS = 300_000;
/** Of teaching the local engine; reading the examples has its own deadlines. */
export const LEARN_DEADLINE_MS = 1_800_000;
export const EXTRACT_DEADLINES_MS = { fast: 60_000, standard: 300_000, robust: 600_000 };
