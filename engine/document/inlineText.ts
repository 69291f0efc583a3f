import { codeSpans } from './codeSpans.ts';
import { replaceLinks } from './inlineLinks.ts';

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
