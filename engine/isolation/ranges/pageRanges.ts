/**
 * Most pages of a range: some 10 MB of words, and a second of work; a scan of so many pages takes a process
 * less time than any deadline.
 */
const RANGE_PAGES = 20;
/** Pages by which the look of a whole document is told. */
const SURVEY_PAGES = 40;

/** Pages in ranges of about the same size, so that none is a page alone. */
export function pageRanges(numbers: readonly number[]): readonly (readonly number[])[] {
  const count = Math.ceil(numbers.length / RANGE_PAGES);
  const start = (index: number): number => Math.floor((index * numbers.length) / count);
  return Array.from({ length: count }, (_, index) => numbers.slice(start(index), start(index + 1)));
}

/** Pairs of neighbours from all over a document: left and right pages may have headers of their own. */
export function surveyPages(numbers: readonly number[]): readonly number[] {
  const pairs = SURVEY_PAGES / 2;
  if (numbers.length <= SURVEY_PAGES) return numbers;
  const starts = Array.from({ length: pairs }, (_, i) =>
    Math.floor((i * (numbers.length - 2)) / (pairs - 1)),
  );
  return [...new Set(starts.flatMap((start) => numbers.slice(start, start + 2)))];
}

/** As `pageChoice` reads them. */
export function spelledPages(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(',');
}
