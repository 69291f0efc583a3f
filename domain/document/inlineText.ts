/** What inline markdown reads as: without emphasis, links, images, code marks and escapes. */
export function inlineText(markdown: string): string {
  return markdown
    .replace(
      /!?\[((?:\\.|[^\]\\])*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+(?:"[^"]*"|'[^']*'))?\)/g,
      '$1',
    )
    .replace(/(?<!\\)<((?:https?:\/\/|mailto:)[^\s<>]+)>/g, '$1')
    .replace(/(`+)(?!`)([\s\S]*?[^`])\1(?!`)/g, '$2')
    .replace(/(?<!\\)(\*{1,3})(?=\S)([^*]*?[^\s*\\])\1/g, '$2')
    .replace(/(?<![\p{L}\p{N}\\])(_{1,3})(?=\S)([^_]*?[^\s_\\])\1(?![\p{L}\p{N}])/gu, '$2')
    .replace(/(?<!\\)~~([^~]+)~~/g, '$1')
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .trim();
}
