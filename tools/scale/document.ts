import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';

/** The page that shows what the simulation says. */
export const DOCUMENT_PATH = 'docs/explanation/scale.md';

const blockOf = (name: string): RegExp =>
  new RegExp(`(<!-- begin: ${name} -->)[\\s\\S]*?(<!-- end: ${name} -->)`);

/** The text with each named block replaced. Throws when it has no such block. */
export const withBlocks = (text: string, blocks: Readonly<Record<string, string>>): string => {
  for (const [name, block] of Object.entries(blocks)) {
    if (!blockOf(name).test(text)) throw new Error(`${DOCUMENT_PATH} has no block ${name}`);
    text = text.replace(blockOf(name), (_, begin: string, end: string) => `${begin}\n\n${block}\n\n${end}`);
  }
  return text;
};

/** Writes text as the house formats it. */
export const writeFormatted = async (path: string, text: string): Promise<void> =>
  writeFileSync(path, await format(text, { ...(await resolveConfig(path)), filepath: path }));

export const updateDocument = (blocks: Readonly<Record<string, string>>): Promise<void> =>
  writeFormatted(DOCUMENT_PATH, withBlocks(readFileSync(DOCUMENT_PATH, 'utf8'), blocks));
