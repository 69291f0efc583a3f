/** Most pages of one document. */
export const PAGES_MAX = 100;
export const INSPECT_DEADLINE_MS = 20_000;
export const CONVERT_DEADLINE_MS = 120_000;
export const EXTRACT_DEADLINES_MS = { fast: 60_000, standard: 120_000, robust: 300_000 };
