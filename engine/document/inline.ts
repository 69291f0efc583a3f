/** A code span of inline markdown: where it stands with its backticks, and what is in it. */
interface CodeSpan {
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

/** A link or an image of inline markdown. */
interface InlineLink {
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

/** A link or an image, and where it stands: from its first bracket or `!` to its last. */
interface Found extends InlineLink {
  readonly from: number;
  readonly labelFrom: number;
  readonly to: number;
}

function linkAt(markdown: string, { open, close }: { open: number; close: number }): Found | undefined {
  if (markdown[close + 1] !== '(') return undefined;
  TARGET.lastIndex = close + 1;
  const target = TARGET.exec(markdown);
  if (target === null) return undefined;
  const isImage = markdown[open - 1] === '!';
  const label = markdown.slice(open + 1, close);
  const place = { from: open - Number(isImage), labelFrom: open + 1, to: TARGET.lastIndex };
  return { isImage, label, destination: target[1] ?? '', ...place };
}

/**
 * The links and images of inline markdown. The label begins at the first bracket after the last one that closed,
 * so that each character is looked at once.
 */
function linksIn(markdown: string): readonly Found[] {
  if (!markdown.includes('](')) return [];
  const links: Found[] = [];
  let open = -1;
  for (let at = 0; at < markdown.length; at += 1) {
    const char = markdown[at];
    if (char === '\\') at += 1;
    else if (char === '[' && open < 0) open = at;
    else if (char === ']') {
      const found = open < 0 ? undefined : linkAt(markdown, { open, close: at });
      if (found !== undefined) {
        links.push(found);
        at = found.to - 1;
      }
      open = -1;
    }
  }
  return links;
}

/** Inline markdown with each link or image as `written` has it. */
function replaceLinks(markdown: string, written: (link: InlineLink) => string): string {
  let [text, copied] = ['', 0];
  for (const link of linksIn(markdown)) {
    text += markdown.slice(copied, link.from) + written(link);
    copied = link.to;
  }
  return text + markdown.slice(copied);
}

/** A link, an image, an address in angle brackets or a code span, and where the text stands that it shows. */
export interface InlineConstruct {
  readonly kind: 'link' | 'code';
  readonly from: number;
  readonly to: number;
  readonly innerFrom: number;
  readonly innerTo: number;
}

/** What cannot be cut in two in inline markdown, in the order in which it begins. */
export function inlineConstructs(markdown: string): readonly InlineConstruct[] {
  const links = linksIn(markdown).map(({ from, labelFrom, label, to }) => ({
    kind: 'link' as const,
    from,
    to,
    innerFrom: labelFrom,
    innerTo: labelFrom + label.length,
  }));
  const spans = codeSpans(markdown).map(({ from, to, code }) => {
    const ticks = (to - from - code.length) / 2;
    return { kind: 'code' as const, from, to, innerFrom: from + ticks, innerTo: to - ticks };
  });
  const addresses = [AUTOLINK, MAIL_AUTOLINK].flatMap((pattern) =>
    [...markdown.matchAll(pattern)].map(({ 0: { length }, index }) => ({
      kind: 'link' as const,
      from: index,
      to: index + length,
      innerFrom: index + 1,
      innerTo: index + length - 1,
    })),
  );
  return [...links, ...spans, ...addresses].sort((a, b) => a.from - b.from || b.to - a.to);
}

/** Destinations that a link may have. */
const SAFE_DESTINATION = /^(?:https?:\/\/|mailto:)[^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)*$/i;

/** Whether a link may point there: http, https or mailto, without white space and angle brackets. */
export const isSafeLink = (destination: string): boolean => SAFE_DESTINATION.test(destination);

/** What would open HTML, an autolink, a comment or a declaration. */
const OPENS_HTML = /<(?=[A-Za-z/!?])/g;
const ENTITY = /&(?=#\d{1,7};|#[xX][\da-fA-F]{1,6};|[A-Za-z][A-Za-z\d]{1,31};)/g;
/** Marks that begin a block when they begin a line. */
const LINE_START = /^(\s*)(#{1,6}(?=\s|$)|>|[-+](?=\s|$)|[-=]{2,}\s*$|~~~|\|)/;
const NUMBER_START = /^(\s*\d{1,9})([.)])(?=\s|$)/;

/** Plain text as markdown that renders as the same text. Line feeds stay soft breaks. */
export function escapeText(text: string): string {
  return text
    .split('\n')
    .map((line) => escapeLineStart(escapeMarks(line)))
    .join('\n');
}

/** Inline markdown of whole lines, none of which begins a block. */
export const escapeStart = (markdown: string): string => markdown.split('\n').map(escapeLineStart).join('\n');

/** Whatever may have to be escaped inside a line has one of these. */
const MARKS = /[\\`*_~\]<&]/;

/** Plain text for a place inside a line: a heading, a cell, a link's label. */
export function escapeMarks(text: string): string {
  if (!MARKS.test(text)) return text;
  return text
    .replace(/\\(?=[!-/:-@[-`{-~])/g, '\\\\')
    .replace(/[`*]/g, '\\$&')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    .replace(/~~/g, '\\~\\~')
    .replace(/\](?=[([:])/g, '\\]')
    .replace(OPENS_HTML, '\\<')
    .replace(ENTITY, '\\&');
}

const escapeLineStart = (line: string): string =>
  line.replace(LINE_START, '$1\\$2').replace(NUMBER_START, '$1\\$2');

const AUTOLINK = /(?<!\\)<((?:https?:\/\/|mailto:)[^\s<>]*)>/gi;
const MAIL_AUTOLINK = /(?<!\\)<([\w.+-]+@[\w-]+(?:\.[\w-]+)+)>/g;
/** Footnotes `[^1]` link nowhere: their marks and texts stay. */
const OTHER_LINK = /(?<!\\)\](?=\(|\[(?!\^\d))/g;
/** A label has at most 999 characters (CommonMark). */
const DEFINITION = /^(\s{0,3})\[(?!\^\d)(?=[^\]]{0,999}\]:)/gm;

/**
 * Inline markdown from a document, made safe: links keep http, https and mailto destinations and lose
 * others (their label stays), images become their description, and `<` never opens HTML. Code spans
 * stay as they are, for nothing in them is markup.
 */
export function safeInline(markdown: string): string {
  let safe = '';
  let end = 0;
  for (const { from, to } of codeSpans(markdown)) {
    safe += safeOutsideCode(markdown.slice(end, from)) + markdown.slice(from, to);
    end = to;
  }
  return safe + safeOutsideCode(markdown.slice(end));
}

function safeOutsideCode(markdown: string): string {
  const kept: string[] = [];
  const keep = (link: string): string => `\ue000${kept.push(link) - 1}\ue001`;
  const replaced = markdown
    .replace(/[\ue000\ue001]/g, '')
    .replace(AUTOLINK, (_, url: string) => keep(linkTo(url, url)))
    .replace(MAIL_AUTOLINK, (_, mail: string) => keep(linkTo(mail, `mailto:${mail}`)));
  const linked = replaceLinks(replaced, ({ isImage, label, destination }) =>
    !isImage && isSafeLink(destination) ? keep(`[${plainLabel(label)}](${destination})`) : label,
  );
  return linked
    .replace(DEFINITION, '$1\\[')
    .replace(OTHER_LINK, '\\]')
    .replace(/(?<!\\)<(?=[A-Za-z/!?])/g, '\\<')
    .replace(/\ue000(\d+)\ue001/g, (_, index: string) => kept[Number(index)] ?? '');
}

const linkTo = (label: string, destination: string): string =>
  isSafeLink(destination) ? `[${escapeMarks(label)}](${destination})` : escapeMarks(label);

const plainLabel = (label: string): string => label.replace(/(?<!\\)<(?=[A-Za-z/!?])/g, '\\<');

/** What inline markdown reads as: without emphasis, links, images, code marks and escapes. */
export function inlineText(markdown: string): string {
  const labels = replaceLinks(markdown, ({ label }) => label).replace(
    /(?<!\\)<((?:https?:\/\/|mailto:)[^\s<>]+)>/g,
    '$1',
  );
  return withoutCodeMarks(labels)
    .replace(/(?<!\\)(\*{1,3})(?=\S)([^*]*?[^\s*\\])\1/g, '$2')
    .replace(/(?<![\p{L}\p{N}\\])(_{1,3})(?=\S)([^_]*?[^\s_\\])\1(?![\p{L}\p{N}])/gu, '$2')
    .replace(/(?<!\\)~~([^~]+)~~/g, '$1')
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .trim();
}

function withoutCodeMarks(markdown: string): string {
  let [text, end] = ['', 0];
  for (const { from, to, code } of codeSpans(markdown)) {
    text += markdown.slice(end, from) + code;
    end = to;
  }
  return text + markdown.slice(end);
}
