import type { ValueRow } from '../../values.ts';
import type { Wanted } from './place.ts';

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));

/** What of a document is looked for when a value is chosen: its words, near to those of the values beside it. */
export const wantedOf = (rows: readonly ValueRow[], chosen: string): Wanted | undefined => {
  const row = rows.find(({ path }) => path === chosen);
  if (row?.citation === undefined) return undefined;
  const beside = rows
    .filter(({ path }) => path !== chosen && parentOf(path) === parentOf(chosen))
    .flatMap(({ citation }) => citation?.text ?? [])
    .sort((one, other) => other.length - one.length);
  // of a field by itself, its name as the document may write it; of one of a list, what else is in its line
  const isInList = /\/\d+$/.test(parentOf(chosen));
  const name = row.name.replaceAll('_', ' ');
  const label = name.charAt(0).toUpperCase() + name.slice(1);
  return { words: row.citation.text, near: isInList ? beside : [label, name] };
};
