import type { PlacedWord } from './content.ts';

/** What the text around looks like by itself, so that it says nothing. */
export interface BaseLook {
  readonly bold: boolean;
  readonly italic: boolean;
}

/** Words without a space between them, and what they read as, with links. */
export interface Token {
  readonly words: readonly PlacedWord[];
  readonly text: string;
  readonly markdown: string;
}

/** Marks of markdown around a run of tokens. */
type Marks = '' | '*' | '**' | '***';

export interface Emphasised {
  readonly markdown: string;
  /** The marks that its first and its last words stand in. */
  readonly opens: Marks;
  readonly closes: Marks;
}

/**
 * Tokens with marks around those that look other than the text: from space to space, neighbours of one look in one
 * pair of marks. The first `plain` characters, which mark an item, stay as they are, and links show themselves.
 */
export function emphasised(tokens: readonly Token[], base: BaseLook, plain: number): Emphasised {
  if (base.bold && base.italic)
    return { markdown: tokens.map(({ markdown }) => markdown).join(' '), opens: '', closes: '' };
  let at = 0;
  const looks = tokens.map((token): Marks => {
    const from = at;
    at += token.text.length + 1;
    return from < plain ? '' : marksOf(token, base);
  });
  const parts: { marks: Marks; texts: string[] }[] = [];
  tokens.forEach(({ markdown }, index) => {
    const marks = looks[index] ?? '';
    const last = parts.at(-1);
    if (last?.marks === marks) last.texts.push(markdown);
    else parts.push({ marks, texts: [markdown] });
  });
  const marked = parts.map(({ marks, texts }) => ({ marks: standing(marks, texts), text: texts.join(' ') }));
  return {
    markdown: marked.map(({ marks, text }) => `${marks}${text}${marks}`).join(' '),
    opens: marked[0]?.marks ?? '',
    closes: marked.at(-1)?.marks ?? '',
  };
}

function marksOf({ words }: Token, base: BaseLook): Marks {
  const all = (trait: 'bold' | 'italic'): boolean => !base[trait] && words.every((word) => word[trait]);
  if (words.some(({ link }) => link !== null)) return '';
  return `${all('bold') ? '**' : ''}${all('italic') ? '*' : ''}` as Marks;
}

/** Marks say something of words only, and a backslash before them would take them for text. */
const standing = (marks: Marks, texts: readonly string[]): Marks =>
  texts.some((text) => /[\p{L}\p{N}]/u.test(text)) && texts.at(-1)?.endsWith('\\') !== true ? marks : '';

/** Two lines as they follow each other: what runs on from one to the next is one emphasis. */
export const runOn = (before: Emphasised, after: Emphasised): readonly [string, string] => {
  const { length } = before.closes;
  return length > 0 && before.closes === after.opens
    ? [before.markdown.slice(0, -length), after.markdown.slice(length)]
    : [before.markdown, after.markdown];
};
