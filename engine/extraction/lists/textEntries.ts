import type { Field } from '../fields/fields.ts';
import { confidenceOf, type Finding } from '../finding.ts';
import type { Source } from '../source.ts';
import { labelled, textEntries, type Entry } from './labelledLists.ts';
import { wordsOf } from './textLines.ts';

/** An entry is a few words; a longer one is prose that follows the label. */
const ENTRY_CHARACTERS_MAX = 120;

/** A sentence ends in it, and another begins. */
const isProse = (text: string): boolean => /\p{L}{3}[.!?]\s+\p{Lu}/u.test(text);

/** The texts of a list below or after its label, none where prose follows; undefined where no label is. */
export function listedTexts(field: Field, source: Source): readonly Finding[] | undefined {
  const found = labelled(field, source);
  if (found === undefined) return undefined;
  const entries = textEntries(found);
  if (entries.some(({ text }) => text.length > ENTRY_CHARACTERS_MAX || isProse(text))) return [];
  return entries.map((entry) => entryFinding(entry, found.score));
}

/** An entry as it stands on its page. */
export function entryFinding({ text, at }: Entry, score: number): Finding {
  const words = wordsOf(text, at);
  const evidence = { label: score, strictness: 0.6, margin: 0.3, agreement: 0 };
  return { value: text, text, page: at.page.page, words, confidence: confidenceOf(evidence, words) };
}
