import { type EvidenceKind, textFinding, type Finding } from '../finding.ts';
import type { Field } from '../fields/fields.ts';
import type { Pair } from '../form/pair.ts';
import { likeness } from '../matching/likeness.ts';
import { termsIn } from '../matching/terms.ts';
import { labelIndexOf } from '../singles/labelIndex.ts';
import { valuesAt } from '../singles/values.ts';
import type { Source } from '../source.ts';

/** An entry of a map: the label that names it, and its value. */
export interface MapEntry {
  readonly name: string;
  readonly finding: Finding;
}

/** A heading must name the map so well. */
const NAMED = 0.75;
const NAME_CHARACTERS_MAX = 60;
const ENTRIES_MAX = 500;
/** Ways in which a label shows itself as one beside its value. */
const KINDS: ReadonlySet<EvidenceKind> = new Set<EvidenceKind>(['colon', 'cell', 'right', 'beside']);

/**
 * The labels that stand with their values under a heading that names the map, in the order of the document; of
 * labels that come again, the first. `item` is what the values are read as; undefined: their whole text.
 */
export function mapEntries(map: Field, item: Field | undefined, source: Source): readonly MapEntry[] {
  const entries = new Map<string, MapEntry>();
  for (const pair of labelIndexOf(source).form.pairs) {
    const name = pair.label.replace(/[:：]$/u, '').trim();
    const isName = name !== '' && name.length <= NAME_CHARACTERS_MAX && KINDS.has(pair.kind);
    if (!isName || entries.has(name) || entries.size >= ENTRIES_MAX) continue;
    const score = namedBy(map, pair);
    const finding = score < NAMED ? undefined : findingAt(pair, { item, source, score });
    if (finding !== undefined) entries.set(name, { name, finding });
  }
  return [...entries.values()];
}

const namedBy = ({ terms }: Field, { context }: Pair): number =>
  likeness(terms, { label: termsIn(context), context: [], implied: new Set() });

interface Reading {
  readonly item: Field | undefined;
  readonly source: Source;
  readonly score: number;
}

function findingAt(pair: Pair, { item, source, score }: Reading): Finding | undefined {
  const evidence = { label: 0.9 * score, margin: 0.2, agreement: 0, kind: pair.kind };
  if (item === undefined) return textFinding([pair.value], { ...evidence, strictness: 0.6 });
  const [read] = valuesAt(pair.value, { field: item, conventions: source.conventions });
  const finding = read && textFinding([read], { ...evidence, strictness: read.strictness });
  return finding && { ...finding, value: read.value };
}
