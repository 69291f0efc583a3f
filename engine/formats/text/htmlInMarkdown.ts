const OPENS = /^ {0,3}<(table|ul|ol|dl|div|p|h[1-6]|blockquote|section|article|figure|center)\b[^>]*>/i;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** Signs that no text has, around the number of a block that was taken out. */
const MARK = /^\ue010(\d+)\ue011$/;

/** Markdown without its blocks of HTML: in the place of each stands one line that `htmlMark` knows. */
export function htmlBlocksOut(text: string): { readonly rest: string; readonly blocks: readonly string[] } {
  const blocks: string[] = [];
  const kept: string[] = [];
  const lines = text.replace(/[\ue010\ue011]/g, '').split('\n');
  const unclosed = new Set<string>();
  let fence: string | undefined;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    fence = fenceAfter(line, fence);
    const name = fence === undefined ? OPENS.exec(line)?.[1]?.toLowerCase() : undefined;
    const end = name === undefined || unclosed.has(name) ? undefined : endOf(lines, at, name);
    if (end === undefined) {
      kept.push(line);
      if (name !== undefined) unclosed.add(name);
    } else {
      kept.push(`\ue010${blocks.length}\ue011`);
      blocks.push(lines.slice(at, end + 1).join('\n'));
      at = end;
    }
  }
  return { rest: kept.join('\n'), blocks };
}

/** The mark of the code in which the next line lies. */
function fenceAfter(line: string, fence: string | undefined): string | undefined {
  const [, mark] = FENCE.exec(line) ?? [];
  if (mark === undefined) return fence;
  if (fence === undefined) return mark;
  return line.trim().startsWith(fence) ? undefined : fence;
}

/** The number of the block that a line stands for. */
export function htmlMark(line: string): number | undefined {
  const [, number] = MARK.exec(line) ?? [];
  return number === undefined ? undefined : Number(number);
}

/** The line on which the element that opens at a line is closed; undefined when it never is. */
function endOf(lines: readonly string[], start: number, name: string): number | undefined {
  const tags = new RegExp(`<(/?)${name}\\b`, 'gi');
  let depth = 0;
  for (let at = start; at < lines.length; at += 1) {
    for (const [, closes] of (lines[at] ?? '').matchAll(tags)) depth += closes === '' ? 1 : -1;
    if (depth <= 0) return at;
  }
  return undefined;
}
