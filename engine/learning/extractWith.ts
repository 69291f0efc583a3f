import type { Document } from '../document/document.ts';
import type { JsonObject } from '../kernel/json.ts';
import {
  extract,
  extractFrom,
  NOTHING_FOUND,
  type ExtractOptions,
  type LocalExtraction,
  type Taught,
} from '../extraction/extract.ts';
import { signatureOf } from './artifact.ts';
import type { LocalArtifact } from '../ports/artifacts.ts';
import { chooseLeaf, type Following, type LeafModel } from './weights/leafModel.ts';
import { listBy } from './weights/listModel.ts';
import { FEATURES } from './weights/hashing.ts';
import { prepared, type Prepared } from './prepared.ts';
import { rowsBy } from './weights/rowModel.ts';
import { isKnown } from './rounds.ts';
import { targetsOf } from './targets.ts';
import { matched, type Match } from './weights/templates.ts';
import type { Trust } from './weights/trust.ts';
import { once } from '../kernel/once.ts';

type Leaf = LocalArtifact['leaves'][number];

/** Weights unpacked, remembered as long as their artifact is. */
const modelOf = once((leaf: Leaf): LeafModel => {
  const weights = new Float64Array(FEATURES);
  for (const [i, place] of leaf.places.entries()) weights[place] = leaf.weights[i] ?? 0;
  return { weights, labels: new Set(leaf.labels), joint: leaf.joint };
});

/**
 * Fills a schema as `extract` does, with what an artifact learned where it may speak. A field that it did not
 * learn, or that the schema has changed since, is exactly what the rules find.
 */
export function extractTaught(
  { artifact, ...options }: ExtractOptions & { readonly artifact: LocalArtifact },
  document: Document,
  schema: JsonObject,
): LocalExtraction {
  if (artifact.leaves.length + artifact.lists.length + artifact.rows.length === 0)
    return extract(document, schema, options);
  const ready = prepared(document, schema, options);
  return ready === undefined ? NOTHING_FOUND : extractFrom(ready.reading, options, taughtBy(artifact, ready));
}

/** The same with the engine's own options. */
export const extractWith = (
  artifact: LocalArtifact,
  document: Document,
  schema: JsonObject,
): LocalExtraction => extractTaught({ artifact }, document, schema);

/** A learned part of the schema, and in which documents it speaks. */
interface Speaking {
  readonly path: string;
  readonly signature: string;
  readonly known: boolean;
  readonly unseen: boolean;
}

function followingOf({ follows }: Leaf, trust: Trust, match: Match): Following {
  const { from, may_refuse: mayRefuse } = follows[isKnown(match) ? 'known' : 'unseen'];
  return { from, mayRefuse, trust };
}

function taughtBy({ templates, leaves, lists, rows, trust }: LocalArtifact, document: Prepared): Taught {
  const match = matched(templates, document.sightings);
  const signatures = new Map(
    targetsOf(document.reading.tree).map(({ pointer, fields }) => [pointer, signatureOf(fields)]),
  );
  const speaking = <Part extends Speaking>(parts: readonly Part[]): ReadonlyMap<string, Part> =>
    new Map(
      parts
        .filter((part) => (isKnown(match) ? part.known : part.unseen))
        .filter(({ path, signature }) => signatures.get(path) === signature)
        .map((part) => [part.path, part]),
    );
  const [leafParts, listParts, rowParts] = [speaking(leaves), speaking(lists), speaking(rows)];
  return {
    leaf: (field, found) => {
      const leaf = leafParts.get(field.pointer);
      return leaf === undefined
        ? found
        : chooseLeaf(modelOf(leaf), { field, document, match }, followingOf(leaf, trust, match));
    },
    list: (field) => {
      const part = listParts.get(field.pointer);
      return part === undefined ? field : listBy(part.labels, field);
    },
    rows: (pointer, fields) => {
      const part = rowParts.get(pointer);
      if (part === undefined) return undefined;
      const headers = new Map(Object.entries(part.headers));
      return rowsBy({ headers, ends: part.ends }, fields, document.reading.source);
    },
  };
}
