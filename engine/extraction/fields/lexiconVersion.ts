import { sha256 } from '../../kernel/canonicalJson.ts';
import { concepts } from './lexicon.ts';

/** Names the vocabulary that the rules knew when an artifact was made. */
export const lexiconVersion = (): string =>
  sha256(
    concepts()
      .map(({ id, phrases }) => `${id}:${phrases.map((words) => words.join(' ')).join('|')}`)
      .join('\n'),
  ).slice(0, 16);
