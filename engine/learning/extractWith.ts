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
import { signatureOf, type LocalArtifact } from './artifact.ts';
import type { Gate } from './weights/gates.ts';
import { chooseLeaf, type LeafModel } from './weights/leafModel.ts';
import { listBy } from './weights/listModel.ts';
import { prepared, type Prepared } from './prepared.ts';
import { rowsBy } from './weights/rowModel.ts';
import { isKnown } from './rounds.ts';
import { targetsOf } from './targets.ts';
import { matched } from './weights/templates.ts';

type Leaf = LocalArtifact['leaves'][number];

/** Weights unpacked, remembered as long as their artifact is. */
const MODELS = new WeakMap<Leaf, LeafModel>();

function modelOf(leaf: Leaf): LeafModel {
  const known = MODELS.get(leaf);
  if (known !== undefined) return known;
  const weights = new Map(leaf.places.map((place, i) => [place, leaf.weights[i] ?? 0]));
  const model: LeafModel = {
    weightAt: (place) => weights.get(place) ?? 0,
    labels: new Set(leaf.labels),
    joint: leaf.joint,
  };
  MODELS.set(leaf, model);
  return model;
}

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
  const ready = prepared(document, schema);
  return ready === undefined ? NOTHING_FOUND : extractFrom(ready.reading, options, taughtBy(artifact, ready));
}

/** The same with the engine's own options. */
export const extractWith = (
  artifact: LocalArtifact,
  document: Document,
  schema: JsonObject,
): LocalExtraction => extractTaught({ artifact }, document, schema);

function taughtBy({ templates, leaves, lists, rows }: LocalArtifact, document: Prepared): Taught {
  const match = matched(templates, document.sightings);
  const signatures = new Map(
    targetsOf(document.reading.tree).map(({ pointer, fields }) => [pointer, signatureOf(fields)]),
  );
  const speaking = <Part extends Gate & { readonly path: string; readonly signature: string }>(
    parts: readonly Part[],
  ): ReadonlyMap<string, Part> =>
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
      return leaf === undefined ? found : chooseLeaf(modelOf(leaf), { field, document, match });
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
