import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, parse, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { deserialize, serialize } from 'node:v8';
import { sha256 } from '@quire/engine/kernel/canonicalJson';
import type { Json, JsonObject } from '@quire/engine/kernel/json';
import type { PackedDocument } from '../../engine/document/document.ts';
import type { DocumentWorkers } from '../../engine/isolation/documentWorkers.ts';

/** Real documents with known answers; beside the checkout, never in it. */
export const CORPUS = '../shared/corpus';

/** What the corpus' own scorers count; values agree by type, rows are paired in the best way. */
export interface Counts {
  readonly tp: number;
  readonly fp: number;
  readonly fn: number;
}

/** A value that was answered: how sure, and whether it is right. */
export interface Answered {
  readonly path: string;
  readonly single: boolean;
  readonly confidence?: number;
  readonly right: boolean;
}

export interface Scorer {
  /** Truth, answer, schema, and what is lenient. */
  readonly compare: (truth: JsonObject, got: JsonObject, ...more: readonly unknown[]) => Counts;
  /** Truth, value, schema, and how it is matched. */
  readonly agrees: (truth: Json, got: Json, ...more: readonly unknown[]) => boolean;
  /** Truth, answer, schema, citations, and what is lenient. */
  readonly honesty: (
    truth: JsonObject,
    got: JsonObject,
    ...more: readonly unknown[]
  ) => { readonly values: readonly Answered[]; readonly absent: number; readonly invented: number };
  readonly citationHits: (
    citations: readonly unknown[],
    got: JsonObject,
    schema: JsonObject,
  ) => { readonly hit: number; readonly n: number };
}

export interface Item {
  readonly id: string;
  /** Of a kind, taken alike. */
  readonly set: string;
  readonly file: string;
  readonly schema: JsonObject;
  readonly truth: JsonObject;
  readonly match: Readonly<Record<string, string>>;
  readonly ignore: readonly string[];
  /** Leaves are compared letter by letter. */
  readonly strict: boolean;
  /** What a document is one of for those who leave kinds out; the set where it is not told. */
  readonly kind?: string;
}

const json = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

/** The manifests, and how the sets of each are told apart. */
const MANIFESTS = [
  ['manifest.json', ''],
  ['forms/dev/manifest.json', ''],
  ['learn/manifest.json', ' learn'],
  ['learn-more/manifest.json', ' learn'],
  ['forms/learn/manifest.json', ' learn'],
] as const;

interface Listed {
  readonly id: string;
  readonly set: string;
  readonly family?: string;
  readonly file: string;
  readonly truth: string;
  readonly schema: string | JsonObject;
  readonly match?: Readonly<Record<string, string>>;
  readonly ignore?: readonly string[];
}

const listedItems = (manifest: string, suffix: string): readonly Item[] => {
  const root = dirname(join(CORPUS, manifest));
  return (json(join(CORPUS, manifest)) as readonly Listed[])
    .filter(({ set }) => set === 'extraction')
    .map(({ id, family = 'other', file, truth, schema, match = {}, ignore = [] }) => ({
      id: `${id}${suffix}`,
      set: `${family}${suffix}`,
      file: join(root, file),
      schema: typeof schema === 'string' ? (json(join(root, schema)) as JsonObject) : schema,
      truth: json(join(root, truth)) as JsonObject,
      match,
      ignore,
      strict: false,
      ...(family === 'general' ? { kind: id } : {}),
    }));
};

/** A name with and without its ending: the schema and the truth may be named by either. */
const besides = (folder: string, name: string): string | undefined =>
  [`${name}.json`, `${parse(name).name}.json`].map((one) => join(folder, one)).find(existsSync);

/**
 * Everything of a folder with documents/, schemas/ and truth/, the last two with a JSON file of the same name for each
 * document; one `schema.json` in the folder serves those that have none, and `match.json` says by document and path
 * which texts are compared leniently. They are one set, of the folder's name.
 */
export function itemsIn(folder: string): readonly Item[] {
  const lenient = besides(folder, 'match');
  const match = (lenient === undefined ? {} : json(lenient)) as Readonly<Record<string, Item['match']>>;
  return readdirSync(join(folder, 'documents'))
    .toSorted()
    .flatMap((name) => {
      const schema = besides(join(folder, 'schemas'), name) ?? besides(folder, 'schema');
      const truth = besides(join(folder, 'truth'), name);
      if (schema === undefined || truth === undefined) return [];
      return [
        {
          id: name,
          set: basename(resolve(folder)),
          file: join(folder, 'documents', name),
          schema: json(schema) as JsonObject,
          truth: json(truth) as JsonObject,
          match: match[name] ?? {},
          ignore: [],
          strict: false,
        },
      ];
    });
}

/** Schemas of the benchmark say beside each member how it is scored. */
const withoutScoring = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutScoring);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'evaluation_config')
      .map(([key, member]) => [key, withoutScoring(member)]),
  );
};

const benchItems = (): readonly Item[] => {
  const documents = join(CORPUS, 'extract-bench/documents');
  return readdirSync(documents).flatMap((kind) => {
    const read = withoutScoring(json(join(CORPUS, 'extract-bench/schemas', `${kind}.json`))) as JsonObject;
    const schema = (read['schema_definition'] ?? read) as JsonObject;
    return readdirSync(join(documents, kind))
      .filter((name) => name.endsWith('.pdf'))
      .map((name) => ({
        id: `${kind}-${name}`,
        set: `eb ${kind}`,
        file: join(documents, kind, name),
        schema,
        truth: json(join(documents, kind, name.replace(/pdf$/, 'gold.json'))) as JsonObject,
        match: {},
        ignore: [],
        strict: true,
      }));
  });
};

/** A public benchmark of documents of as many kinds; its halves, that rules may be written in sight of one alone. */
const docuItems = (): readonly Item[] => {
  const root = join(CORPUS, 'docubench');
  return readdirSync(join(root, 'documents'))
    .toSorted()
    .map((name, i) => {
      const truth = json(join(root, 'labels', `${parse(name).name}.json`)) as JsonObject;
      const schema = json(join(root, 'schemas', `${parse(name).name}.json`)) as JsonObject;
      const file = join(root, 'documents', name);
      const set = i % 2 === 0 ? 'docubench (looked at)' : 'docubench (not looked at)';
      return { id: name, set, kind: name, file, schema, truth, match: {}, ignore: [], strict: false };
    });
};

/** A benchmark's own figure of one document, 0..1. */
type Share = (value: JsonObject, schema: JsonObject, truth: JsonObject) => number;

export const docuShare = async (): Promise<Share> => {
  const path = pathToFileURL(join(CORPUS, 'docubench/score.mjs')).href;
  return ((await import(path)) as { readonly score: Share }).score;
};

/** Everything of the corpus that is to be extracted; undefined where it is missing. */
export const corpusItems = (): readonly Item[] | undefined =>
  existsSync(join(CORPUS, 'manifest.json'))
    ? [
        ...MANIFESTS.flatMap(([manifest, suffix]) => listedItems(manifest, suffix)),
        ...benchItems(),
        ...docuItems(),
      ]
    : undefined;

export const scorer = async (): Promise<Scorer> =>
  (await import(pathToFileURL(join(CORPUS, 'score.mjs')).href)) as Scorer;

type Strict = (
  truth: JsonObject,
  got: JsonObject,
) => { readonly right: number; readonly gold: number; readonly got: number };

/** The benchmark's own counts of leaves. */
export const strictCounts = async (): Promise<(truth: JsonObject, got: JsonObject) => Counts> => {
  const path = pathToFileURL(join(CORPUS, 'extract-bench/score.mjs')).href;
  const { score } = (await import(path)) as { readonly score: Strict };
  return (truth, answer) => {
    const { right, gold, got } = score(truth, answer);
    return { tp: right, fp: got - right, fn: gold - right };
  };
};

/** Documents that were read, outside of git; `READER_CACHE` names another folder. */
const CACHE = process.env['READER_CACHE'] ?? 'node_modules/.cache/reader';
const READ_MS = 240_000;

/** Reads a document, or takes it as it was read before; undefined where it cannot be read. */
export async function readItem(
  { file }: Pick<Item, 'file'>,
  workers: DocumentWorkers,
): Promise<PackedDocument | undefined> {
  mkdirSync(CACHE, { recursive: true });
  const kept = join(CACHE, `${sha256(readFileSync(file).toString('latin1')).slice(0, 24)}.v8`);
  if (existsSync(kept)) return deserialize(readFileSync(kept)) as PackedDocument;
  const read = await workers.parser.read({
    path: file,
    fileName: basename(file),
    effort: 'standard',
    pagesMax: 1000,
    deadlineMs: READ_MS,
    share: 'evaluation',
  });
  if (read.kind !== 'ok') return undefined;
  writeFileSync(kept, serialize(read.document));
  return read.document;
}
