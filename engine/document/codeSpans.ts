/** A code span of inline markdown: where it stands with its backticks, and what is in it. */
export interface CodeSpan {
  readonly from: number;
  readonly to: number;
  readonly code: string;
}

interface Run {
  readonly at: number;
  readonly length: number;
}

/** Of the runs of each length, in order: the first one after a given run. Asked in the order of runs. */
function nextRuns(runs: readonly Run[]): (length: number, after: number) => number | undefined {
  const byLength = new Map<number, number[]>();
  runs.forEach(({ length }, index) => {
    const known = byLength.get(length);
    if (known === undefined) byLength.set(length, [index]);
    else known.push(index);
  });
  const passed = new Map<number, number>();
  return (length, after) => {
    const indices = byLength.get(length) ?? [];
    let at = passed.get(length) ?? 0;
    while (at < indices.length && (indices[at] ?? 0) <= after) at += 1;
    passed.set(length, at);
    return indices[at];
  };
}

/** A backslash takes the first backtick of a run out of it. */
const isEscaped = (markdown: string, at: number): boolean => {
  let before = at;
  while (markdown[before - 1] === '\\') before -= 1;
  return (at - before) % 2 === 1;
};

/**
 * The code spans of inline markdown, as CommonMark has them: between a run of backticks and the next one of
 * the same length. Linear, however many runs there are.
 */
export function codeSpans(markdown: string): readonly CodeSpan[] {
  const runs = [...markdown.matchAll(/`+/g)].map(({ 0: { length }, index }): Run => ({ at: index, length }));
  const nextOf = nextRuns(runs);
  const spans: CodeSpan[] = [];
  for (let index = 0; index < runs.length; index += 1) {
    const run = runs[index] ?? { at: 0, length: 0 };
    const escaped = Number(isEscaped(markdown, run.at));
    const [from, length] = [run.at + escaped, run.length - escaped];
    const closing = length === 0 ? undefined : nextOf(length, index);
    const close = closing === undefined ? undefined : runs[closing];
    if (closing === undefined || close === undefined) continue;
    spans.push({ from, to: close.at + length, code: markdown.slice(from + length, close.at) });
    index = closing;
  }
  return spans;
}
