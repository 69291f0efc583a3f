import type { Found } from './identifiers.ts';

const HOUR = String.raw`(?<![\p{L}\p{N}.,:/-])(?:[01]?\d|2[0-4])`;
const AFTER_NOON = String.raw`[ap]\.?\s?m\b\.?`;
const CLOCK = new RegExp(
  String.raw`${HOUR}(?:(?:[:.h]|\sh\s)\d{2}(?::\d{2})?(?:\s?(?:${AFTER_NOON}))?|` +
    String.raw`\s?(?:${AFTER_NOON}|Uhr\b|heures?\b|h\b|o['’]clock\b))(?![\p{L}\p{N}])`,
  'giu',
);

/** Times of the day as they are written: `7:30 a.m.`, `16h00`, `14.30 Uhr`. */
export const timesIn = (text: string): readonly Found[] =>
  [...text.matchAll(CLOCK)].map((match) => ({
    value: match[0].trim(),
    text: match[0].trim(),
    from: match.index,
    to: match.index + match[0].trimEnd().length,
  }));
