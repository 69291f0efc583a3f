import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readFileAsDocument } from '../../formats/readDocument.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { extract } from '../../extraction/extract.ts';
import { artifactText } from '../../learning/artifact.ts';
import type { LocalArtifact } from '../../ports/artifacts.ts';
import { extractWith } from '../../learning/extractWith.ts';
import { trainLocal, type Trained, type TrainingExample } from '../../learning/train.ts';
import { cpuSince } from './cpu.ts';
import { FORM_SCHEMA, madeUpForms } from '../learning/madeUpForms.ts';

/** Parts that every example is held out in once. */
const PARTS = 5;
const SEED = 1;
/** Part of the names of the sets of made-up forms. */
const ONLY = process.env['BENCH_ONLY'] ?? '';
/** Of such a set. */
const EXAMPLES = Number(process.env['BENCH_EXAMPLES'] ?? 10);

interface Counts {
  readonly tp: number;
  readonly fp: number;
  readonly fn: number;
}
interface Item {
  readonly set: string;
  readonly family?: string;
  readonly file: string;
  readonly truth: string;
  readonly schema: string;
}
/** Truth, answer, then schema and what the manifest says of the document. */
type Compare = (truth: JsonObject, got: JsonObject, ...more: readonly unknown[]) => Counts;
type Sample = TrainingExample & { readonly item?: Item };

const trained = (
  examples: readonly TrainingExample[],
  schema: JsonObject,
): Trained & { readonly ms: number; readonly cpuMs: number } => {
  const start = performance.now();
  const spent = cpuSince([process.pid]);
  const steps = trainLocal(examples, schema, { seed: SEED, validationSplit: 0.2 });
  for (;;) {
    const step = steps.next();
    if (step.done === true) return { ...step.value, ms: performance.now() - start, cpuMs: spent() };
  }
};

const f1 = (all: readonly Counts[]): string => {
  const sum = (side: keyof Counts): number => all.reduce((total, one) => total + one[side], 0);
  return ((2 * sum('tp')) / Math.max(1, 2 * sum('tp') + sum('fp') + sum('fn'))).toFixed(3);
};

const scored = (
  samples: readonly Sample[],
  schema: JsonObject,
  { compare, artifact }: { compare: Compare; artifact?: LocalArtifact },
) =>
  samples.map(({ document, expected, item }) => {
    const { value } =
      artifact === undefined ? extract(document, schema) : extractWith(artifact, document, schema);
    return compare(expected, value, schema, item);
  });

/** Rules and artifact on documents that it did not learn from, each held out once. */
const measured = (
  name: string,
  samples: readonly Sample[],
  { schema, compare }: { schema: JsonObject; compare: Compare },
) => {
  const rules: Counts[] = [];
  const artifacts: Counts[] = [];
  for (let part = 0; part < Math.min(PARTS, samples.length); part += 1) {
    const held = samples.filter((_, i) => i % PARTS === part);
    const { artifact } = trained(
      samples.filter((_, i) => i % PARTS !== part),
      schema,
    );
    rules.push(...scored(held, schema, { compare }));
    artifacts.push(...scored(held, schema, { compare, artifact }));
  }
  const all = trained(samples, schema);
  const { report, artifact, ms, cpuMs } = all;
  return {
    set: name,
    documents: samples.length,
    untrained: f1(rules),
    trained: f1(artifacts),
    'own score': `${report.baseline_score} -> ${report.best_score}`,
    'unseen layouts':
      report.unseen_templates === null
        ? '-'
        : `${report.unseen_templates.baseline} -> ${report.unseen_templates.best}`,
    layouts: artifact.templates.length,
    bytes: artifactText(artifact).length,
    's to learn': (ms / 1000).toFixed(1),
    'CPU ms an example': (cpuMs / samples.length).toFixed(0),
  };
};

const json = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

const samplesOf = async (corpus: string, items: readonly Item[]): Promise<readonly Sample[]> => {
  const samples: Sample[] = [];
  for (const item of items) {
    const parsed = await readFileAsDocument({
      bytes: readFileSync(join(corpus, item.file)),
      fileName: basename(item.file),
      effort: 'standard',
      pagesMax: 100,
      languages: ['eng', 'deu', 'fra'],
    });
    if (parsed.kind !== 'ok') throw new Error(`${item.file}: ${JSON.stringify(parsed)}`);
    samples.push({ document: parsed.document, expected: json(join(corpus, item.truth)) as JsonObject, item });
  }
  return samples;
};

const corpus = process.argv[2];
if (corpus === undefined) {
  console.error('usage: npm run bench:training -- <corpus folder with manifest.json and score.mjs>');
  process.exit(2);
}
const { compare } = (await import(pathToFileURL(join(corpus, 'score.mjs')).href)) as { compare: Compare };
const items = (json(join(corpus, 'manifest.json')) as Item[]).filter(({ set }) => set === 'extraction');
const rows = [];
for (const family of [...new Set(items.map((item) => item.family ?? ''))]) {
  const ofFamily = items.filter((item) => item.family === family);
  const schema = json(join(corpus, ofFamily[0]?.schema ?? '')) as JsonObject;
  rows.push(measured(family, await samplesOf(corpus, ofFamily), { schema, compare }));
}
for (const [name, samples] of [
  ['made-up ledgers', madeUpForms('ledger', EXAMPLES, SEED)],
  ['made-up cards', madeUpForms('card', EXAMPLES, SEED)],
  [
    'three layouts',
    (['ledger', 'card', 'plain'] as const).flatMap((layout) => madeUpForms(layout, EXAMPLES, SEED)),
  ],
  [
    'two layouts, many',
    (['ledger', 'card'] as const).flatMap((layout) => madeUpForms(layout, 2.5 * EXAMPLES, SEED)),
  ],
] as const)
  if (name.includes(ONLY)) rows.push(measured(name, samples, { schema: FORM_SCHEMA, compare }));
console.log(
  'F1 on documents held out (5 parts), by the scorer of the corpus; the own score is exact, without its lenience',
);
console.table(rows);
