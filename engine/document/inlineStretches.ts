import { escapeMarks, escapeStart, escapeText, inlineConstructs, type InlineConstruct } from './inline.ts';

/** A stretch of a text with inline marks: `markdown` reads alone, `whole` is as it stands in the whole text. */
export interface InlineStretch {
  readonly text: string;
  readonly markdown: string;
  readonly whole?: string | undefined;
}

/** A range of a text, in UTF-16 units. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

interface Cutting {
  readonly text: string;
  readonly markdown: string;
  /** In order; only line feeds stand between them. */
  readonly ranges: readonly TextRange[];
  /** A stretch begins a line, where marks would begin a block. */
  readonly isBlock: boolean;
}

/**
 * Cuts a text and its inline markdown at the same places. Marks that are open at a cut are closed before it and
 * opened again behind it. Where text and markdown do not go together, the stretches lose their marks.
 */
export function inlineStretches({ text, markdown, ranges, isBlock }: Cutting): readonly InlineStretch[] {
  const offsets = ranges.flatMap(({ from, to }) => [from, to]).slice(1, -1);
  const inner = new Walk(markdown, text).stopsAt(offsets);
  const stops = inner && [START, ...inner, { at: markdown.length, open: [] }];
  return ranges.map(({ from, to }, index): InlineStretch => {
    const own = text.slice(from, to);
    const [first, last] = [stops?.[2 * index], stops?.[2 * index + 1]];
    if (first === undefined || last === undefined)
      return { text: own, markdown: isBlock ? escapeText(own) : escapeMarks(own) };
    const raw = markdown.slice(first.at, last.at);
    const marked = withMarks(raw, { opened: first.open, closed: last.open });
    const alone = isBlock && index > 0 ? withFirstLineEscaped(marked) : marked;
    return { text: own, markdown: alone, ...(alone !== raw && { whole: raw }) };
  });
}

function withFirstLineEscaped(markdown: string): string {
  const end = markdown.indexOf('\n');
  return end < 0 ? escapeStart(markdown) : escapeStart(markdown.slice(0, end)) + markdown.slice(end);
}

/** A mark or a construct around a place. */
interface Around {
  readonly opens: string;
  readonly closes: string;
  readonly construct: InlineConstruct | undefined;
}

interface Stop {
  readonly at: number;
  readonly open: readonly Around[];
}

const START: Stop = { at: 0, open: [] };

function withMarks(
  raw: string,
  { opened, closed }: { readonly opened: readonly Around[]; readonly closed: readonly Around[] },
): string {
  if (raw.trim() === '') return raw;
  const inner = raw.trimEnd();
  const opens = opened.map((around) => around.opens).join('');
  const closes = [...closed].reverse().map((around) => around.closes);
  return opens + inner + closes.join('') + raw.slice(inner.length);
}

const isSpace = (sign: string | undefined): boolean => sign !== undefined && /\s/.test(sign);
const isSame = (sign: string | undefined, wanted: string | undefined): boolean =>
  sign !== undefined && (sign === wanted || (isSpace(sign) && isSpace(wanted)));
const isMark = (sign: string | undefined): boolean => sign === '*' || sign === '_' || sign === '~';
const MARK_RUN = /\*+|_+|~+/y;
/** Signs with which marks, escapes, links and code begin and end. */
const SPECIAL: ReadonlySet<number> = new Set(Array.from('\\*_~`[]()!<>^:', (sign) => sign.charCodeAt(0)));
const PUNCTUATION = /[!-/:-@[-`{-~]/;

/**
 * Marks and constructs that are open at once, at most. No reader follows more, and each cut repeats all of them: a text
 * of nothing but marks that stay open would take time by the square of its length.
 */
const OPEN_MAX = 32;

/** Goes through a text and its markdown together; linear in both. */
class Walk {
  private at = 0;
  private read = 0;
  private open: readonly Around[] = [];
  private readonly markdown: string;
  private readonly text: string;
  private readonly begins: ReadonlyMap<number, InlineConstruct>;

  constructor(markdown: string, text: string) {
    this.markdown = markdown;
    this.text = text;
    this.begins = new Map(inlineConstructs(markdown).map((construct) => [construct.from, construct]));
  }

  /** The places in the markdown of offsets into the text, in order; undefined where both do not go together. */
  stopsAt(offsets: readonly number[]): readonly Stop[] | undefined {
    const stops: Stop[] = [];
    for (const offset of offsets) {
      while (this.read < offset) if (!this.skipPlain(offset) && !this.step()) return undefined;
      while (this.leave());
      stops.push({ at: this.at, open: this.open });
    }
    return stops;
  }

  /** Passes signs that are the same in both and no part of any mark. */
  private skipPlain(offset: number): boolean {
    const from = this.read;
    while (this.read < offset) {
      const code = this.text.charCodeAt(this.read);
      if (code !== this.markdown.charCodeAt(this.at) || SPECIAL.has(code)) break;
      this.at += 1;
      this.read += 1;
    }
    return this.read > from;
  }

  /** Leaves the innermost mark or construct where it ends here. */
  private leave(): boolean {
    const top = this.open.at(-1);
    if (top === undefined) return false;
    const isEnd =
      top.construct === undefined
        ? this.markdown.startsWith(top.closes, this.at) &&
          this.markdown[this.at + top.closes.length] !== top.closes[0]
        : this.at === top.construct.innerTo;
    if (!isEnd) return false;
    this.at += top.closes.length;
    this.open = this.open.slice(0, -1);
    return true;
  }

  /** Passes one sign, mark or space; false where text and markdown do not go together. */
  private step(): boolean {
    return this.passConstruct() || this.passSign();
  }

  private passConstruct(): boolean {
    const inner = this.open.at(-1)?.construct;
    if (inner?.innerTo === this.at) return this.leave();
    const construct = this.begins.get(this.at);
    if (construct === undefined || construct === inner) return false;
    // The text shows an address with its angle brackets where these may be no marks.
    const isShown = this.markdown[this.at] === '<' && this.text[this.read] === '<';
    return !isShown && !this.isDeep && this.enter(construct);
  }

  private passSign(): boolean {
    const [sign, wanted] = [this.markdown[this.at], this.text[this.read]];
    const { isCode } = this;
    if (!isCode && this.isEscape(sign, wanted)) return this.went(2, 1);
    if (isSame(sign, wanted)) return this.went(1, 1);
    if (isSpace(wanted)) return this.went(0, 1);
    if (isSpace(sign)) return this.went(1, 0);
    return !isCode && (isMark(sign) ? this.mark() : this.isSilent(sign) && this.went(1, 0));
  }

  private get isCode(): boolean {
    return this.open.at(-1)?.construct?.kind === 'code';
  }

  private get isDeep(): boolean {
    return this.open.length >= OPEN_MAX;
  }

  private isEscape(sign: string | undefined, wanted: string | undefined): boolean {
    return sign === '\\' && this.markdown[this.at + 1] === wanted && PUNCTUATION.test(wanted ?? '');
  }

  /** Signs of notes' marks, which the text does not have. */
  private isSilent(sign: string | undefined): boolean {
    return sign === '^' || sign === '\\' || (sign === ':' && this.markdown[this.at - 1] === ']');
  }

  private went(inMarkdown: number, inText: number): true {
    this.at += inMarkdown;
    this.read += inText;
    return true;
  }

  private enter(construct: InlineConstruct): true {
    const { from, to, innerFrom, innerTo } = construct;
    const [opens, closes] = [this.markdown.slice(from, innerFrom), this.markdown.slice(innerTo, to)];
    this.open = [...this.open, { opens, closes, construct }];
    this.at = innerFrom;
    return true;
  }

  private mark(): boolean {
    if (this.leave()) return true;
    if (this.isDeep) return false;
    MARK_RUN.lastIndex = this.at;
    const [run = ''] = MARK_RUN.exec(this.markdown) ?? [];
    this.open = [...this.open, { opens: run, closes: run, construct: undefined }];
    return this.went(run.length, 0);
  }
}
