/** A link or an image of inline markdown. */
export interface InlineLink {
  readonly isImage: boolean;
  /** Markdown itself. */
  readonly label: string;
  readonly destination: string;
}

/**
 * What follows a label: a destination with one level of brackets, and a title. The bounds are far beyond any
 * real one; without them an opened title would be looked for to the end of the text, again at each link.
 */
const TARGET = new RegExp(
  String.raw`\(\s{0,99}<?([^\s<>()]{0,4000}(?:\([^\s<>()]{0,4000}\)[^\s<>()]{0,4000})*)>?(?:\s{1,99}` +
    String.raw`(?:"[^"]{0,1000}"|'[^']{0,1000}'|\([^)]{0,1000}\)))?\s{0,99}\)`,
  'y',
);

interface Found {
  readonly link: InlineLink;
  readonly to: number;
}

function linkAt(markdown: string, { open, close }: { open: number; close: number }): Found | undefined {
  if (markdown[close + 1] !== '(') return undefined;
  TARGET.lastIndex = close + 1;
  const target = TARGET.exec(markdown);
  if (target === null) return undefined;
  const label = markdown.slice(open + 1, close);
  const link = { isImage: markdown[open - 1] === '!', label, destination: target[1] ?? '' };
  return { link, to: TARGET.lastIndex };
}

/**
 * Inline markdown with each link or image as `written` has it. The label begins at the first bracket after
 * the last one that closed, so that each character is looked at once.
 */
export function replaceLinks(markdown: string, written: (link: InlineLink) => string): string {
  let [text, copied, open] = ['', 0, -1];
  for (let at = 0; at < markdown.length; at += 1) {
    const char = markdown[at];
    if (char === '\\') at += 1;
    else if (char === '[' && open < 0) open = at;
    else if (char === ']') {
      const found = open < 0 ? undefined : linkAt(markdown, { open, close: at });
      if (found !== undefined) {
        text += markdown.slice(copied, open - Number(found.link.isImage)) + written(found.link);
        copied = found.to;
        at = found.to - 1;
      }
      open = -1;
    }
  }
  return text + markdown.slice(copied);
}
