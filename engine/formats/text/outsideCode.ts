const FENCE_LINE = /^ {0,3}(?:`{3,}|~{3,})/;
const CLOSING = /^ {0,3}(?:`{3,}|~{3,})[ \t]*$/;
const INLINE_CODE = /(`[^`\n]+`)/;

/** Of each line the nearest one from it on that may close a fence. */
function closingLines(lines: readonly string[]): readonly (number | undefined)[] {
  const closing = new Array<number | undefined>(lines.length + 1);
  for (let at = lines.length - 1; at >= 0; at -= 1)
    closing[at] = CLOSING.test(lines[at] ?? '') ? at : closing[at + 1];
  return closing;
}

/** Text in which every other part is code, the first one none. */
function withFencesApart(text: string): readonly string[] {
  const lines = text.split('\n');
  const closing = closingLines(lines);
  const parts: string[] = [];
  let prose: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const close = FENCE_LINE.test(lines[at] ?? '') ? closing[at + 1] : undefined;
    if (close === undefined) {
      prose.push(lines[at] ?? '');
      continue;
    }
    parts.push(prose.map((line) => `${line}\n`).join(''), lines.slice(at, close + 1).join('\n'));
    prose = close + 1 < lines.length ? [''] : [];
    at = close;
  }
  return [...parts, prose.join('\n')];
}

/** The text with what stands outside of code changed. Linear: each line is looked at twice. */
export const changedOutsideCode = (text: string, change: (prose: string) => string): string =>
  withFencesApart(text)
    .map((part, index) => (index % 2 === 1 ? part : outsideSpans(part, change)))
    .join('');

const outsideSpans = (text: string, change: (prose: string) => string): string =>
  text
    .split(INLINE_CODE)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join('');
