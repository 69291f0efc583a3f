import { expect } from 'chai';
import fc from 'fast-check';
import type { Document } from '../../document/document.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { extract } from '../../extraction/extract.ts';
import { artifactText, readArtifact } from '../../learning/artifact.ts';
import { extractTaught, extractWith } from '../../learning/extractWith.ts';
import { added, compared, f1, NONE } from '../../learning/scoring/scoring.ts';
import { trainLocal, type Trained, type TrainingExample } from '../../learning/train.ts';
import { holds } from '../support/properties.ts';
import { FORM_SCHEMA, madeUpForms, movedForms, type FormLayout } from './madeUpForms.ts';

const trained = (examples: readonly TrainingExample[], seed = 1, schema = FORM_SCHEMA): Trained => {
  const steps = trainLocal(examples, schema, { seed, validationSplit: 0.2 });
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
};

const scoreOf = (
  examples: readonly TrainingExample[],
  read: (document: Document, schema: JsonObject) => { readonly value: JsonObject },
): number =>
  f1(
    examples
      .map(({ document, expected }) =>
        compared({ expected, got: read(document, FORM_SCHEMA).value }, '', () => undefined),
      )
      .reduce(added, NONE),
  );

const withArtifact =
  ({ artifact }: Trained) =>
  (document: Document, schema: JsonObject) =>
    extractWith(artifact, document, schema);

const LAYOUTS: readonly FormLayout[] = ['ledger', 'card', 'plain'];
const unseen = (layout: FormLayout) => madeUpForms(layout, 10, 4711);

describe('learning from examples', () => {
  const ledger = trained(madeUpForms('ledger', 8, 7));

  for (const layout of ['ledger', 'card'] as const)
    it(`reads new documents of a layout whose labels no dictionary knows: ${layout}`, () => {
      const one = layout === 'ledger' ? ledger : trained(madeUpForms(layout, 8, 7));
      expect(scoreOf(unseen(layout), extract)).to.be.below(0.1);
      expect(scoreOf(unseen(layout), withArtifact(one))).to.be.above(0.95);
      expect(one.report.better).to.equal(true);
    });

  it('learns rows by the headers of their columns, lists, ticks and lines that belong together', () => {
    const [example] = unseen('ledger');
    const { value, citations } = extractWith(ledger.artifact, example!.document, FORM_SCHEMA);
    expect(value).to.deep.equal(example!.expected);
    expect(citations.every(({ page, bbox }) => page === 1 && bbox !== null)).to.equal(true);
    expect(citations.map(({ path }) => path)).to.include.members(['/site', '/parts/0/charge', '/marks/0']);
  });

  it('says of each value whether examples taught where it stands, and why', () => {
    const [example] = unseen('ledger');
    const { artifact } = ledger;
    const { citations, why } = extractTaught({ artifact, why: true }, example!.document, FORM_SCHEMA);
    const byOf = new Map(citations.map(({ path, by }) => [path, by]));
    expect([byOf.get('/site'), byOf.get('/parts/0/charge')]).to.deep.equal(['examples', 'examples']);
    const winners = (why ?? []).flatMap(({ path, offers }) =>
      offers.filter(({ outcome, page }) => outcome === 'won' && page !== null).map(({ by }) => [path, by]),
    );
    expect(new Map(winners as [string, string][])).to.deep.equal(byOf);
  });

  it('reads layouts that it never saw exactly as the rules do', () => {
    for (const layout of ['card', 'plain'] as const)
      for (const { document } of unseen(layout))
        expect(extractWith(ledger.artifact, document, FORM_SCHEMA)).to.deep.equal(
          extract(document, FORM_SCHEMA),
        );
  });

  it('keeps several layouts apart', () => {
    const all = trained(LAYOUTS.flatMap((layout) => madeUpForms(layout, 4, 7)));
    expect(all.artifact.templates).to.have.length(3);
    for (const layout of LAYOUTS)
      expect(scoreOf(unseen(layout), withArtifact(all)), layout).to.be.above(0.95);
  });

  it('carries labels that several layouts confirm to layouts that it never saw', () => {
    const one = trained([0, 40, 80, 120].flatMap((by) => movedForms(3, 7 + by, by)));
    expect(one.artifact.templates).to.have.length(4);
    expect(one.artifact.leaves.every((leaf) => leaf.unseen)).to.equal(true);
    const others = movedForms(10, 99, 200);
    expect(scoreOf(others, extract)).to.be.below(0.1);
    expect(scoreOf(others, withArtifact(one))).to.be.above(0.95);
    const { unseen_templates } = one.report;
    expect(unseen_templates?.best).to.be.above(unseen_templates!.baseline);
  });

  it('learns from one example of a layout beside others', () => {
    const one = trained([...madeUpForms('card', 1, 5), ...madeUpForms('ledger', 5, 5)]);
    expect(scoreOf(unseen('ledger'), withArtifact(one))).to.be.above(0.95);
  });

  it('reads layouts of which it had a single example each', () => {
    const one = trained([0, 40, 80, 120, 160, 200].flatMap((by) => movedForms(1, 7 + by, by)));
    expect(scoreOf(movedForms(10, 99, 200), withArtifact(one))).to.be.above(0.95);
  });

  it('learns from three examples of as many layouts', () => {
    const one = trained([0, 40, 80].flatMap((by) => movedForms(1, 7 + by, by)));
    expect(scoreOf(movedForms(10, 99, 200), withArtifact(one))).to.be.above(0.7);
  });

  it('learns from the one example that shows a mistake beside others that show none', () => {
    const { artifact } = trained([...madeUpForms('plain', 2, 5), ...madeUpForms('card', 1, 5)]);
    const names = ['voucher', 'opened_on', 'closed_on', 'fee', 'keeper'];
    for (const { document, expected } of unseen('card')) {
      const { value } = extractWith(artifact, document, FORM_SCHEMA);
      expect(names.filter((name) => value[name] === expected[name])).to.have.length.of.at.least(4);
    }
  });

  it('says as its baseline what is read without it', () => {
    const examples = [...madeUpForms('plain', 3, 5), ...madeUpForms('ledger', 3, 5)];
    const { report } = trained(examples);
    expect(report.baseline_score).to.be.closeTo(scoreOf(examples, extract), 1e-4).and.within(0.1, 0.9);
  });

  it('needs three examples of one layout', () => {
    for (const layout of ['ledger', 'card'] as const)
      expect(scoreOf(unseen(layout), withArtifact(trained(madeUpForms(layout, 3, 11))))).to.be.above(0.95);
  });

  it('is not better, and changes nothing, where the rules leave nothing to learn', () => {
    const { report, artifact } = trained(madeUpForms('plain', 6, 7));
    expect(report).to.include({ baseline_score: 1, best_score: 1, better: false });
    expect([artifact.leaves, artifact.lists, artifact.rows]).to.deep.equal([[], [], []]);
  });

  it('learns nothing from examples whose answers stand nowhere in the document', () => {
    const examples = madeUpForms('plain', 6, 7).map(({ document }) => ({
      document,
      expected: { voucher: 'nowhere at all', fee: -987_654.32 },
    }));
    const { report } = trained(examples);
    expect(report.better).to.equal(false);
    expect(report.best_score).to.be.at.least(report.baseline_score);
  });

  it('leaves a field to the rules when the schema has changed it', () => {
    const { fee: _, ...others } = FORM_SCHEMA['properties'] as JsonObject;
    const changed = { type: 'object', properties: { ...others, fee: { type: 'string' } } };
    const [example] = unseen('ledger');
    const { value } = extractWith(ledger.artifact, example!.document, changed);
    expect(value).to.not.have.property('fee');
    expect(value['voucher']).to.equal(example!.expected['voucher']);
  });

  it('tells how far it is, never beyond its budget, and ends at it', () => {
    const steps = trainLocal(madeUpForms('card', 5, 7), FORM_SCHEMA, { seed: 1, validationSplit: 0.2 });
    const calls: number[] = [];
    let most = 0;
    for (let step = steps.next(); step.done !== true; step = steps.next()) {
      calls.push(step.value.metric_calls);
      most = step.value.max_metric_calls;
      expect(step.value.metric_calls).to.be.at.most(most);
    }
    expect(calls).to.deep.equal([...calls].sort((a, b) => a - b));
    expect(calls.at(-1)).to.equal(most);
    expect(calls.length).to.be.above(20);
  });

  it('can be stopped between two steps', () => {
    const steps = trainLocal(madeUpForms('card', 5, 7), FORM_SCHEMA, { seed: 1, validationSplit: 0.2 });
    steps.next();
    steps.return(undefined as never);
    expect(steps.next().done).to.equal(true);
  });

  it('refuses a single example, and a schema without properties', () => {
    expect(() => trained(madeUpForms('card', 1, 7))).to.throw(RangeError, 'at least 2 examples');
    expect(() => trained(madeUpForms('card', 2, 7), 1, { type: 'array' })).to.throw(
      RangeError,
      'no properties',
    );
  });
});

describe('an artifact', () => {
  const examples = madeUpForms('ledger', 6, 3);
  const one = trained(examples);

  it('has the same bytes for the same examples and seed', () => {
    expect(artifactText(trained(madeUpForms('ledger', 6, 3)).artifact)).to.equal(artifactText(one.artifact));
  });

  it('depends on its seed', () => {
    expect(artifactText(trained(examples, 2).artifact)).to.not.equal(artifactText(one.artifact));
  });

  it('reads the same after a round trip through its text', () => {
    const read = readArtifact(JSON.parse(artifactText(one.artifact)));
    expect(read).to.deep.equal(one.artifact);
    for (const { document } of unseen('ledger'))
      expect(extractWith(read, document, FORM_SCHEMA)).to.deep.equal(
        extractWith(one.artifact, document, FORM_SCHEMA),
      );
  });

  it('holds none of the values of its examples', () => {
    const text = artifactText(one.artifact);
    for (const { expected } of examples)
      for (const name of ['voucher', 'keeper', 'site'])
        expect(text).to.not.include(JSON.stringify(expected[name]).slice(1, -1));
  });

  it('is refused when it was made by another engine, or when a part of it is missing', () => {
    expect(() => readArtifact({ ...one.artifact, engine_version: 'local-0' })).to.throw();
    const leaves = one.artifact.leaves.map((leaf) => ({ ...leaf, weights: leaf.weights.slice(1) }));
    expect(() => readArtifact({ ...one.artifact, leaves })).to.throw('as many weights as places');
  });

  it('is read when it was made before chances were told', () => {
    const { trust: _, ...old } = one.artifact;
    const leaves = old.leaves.map(({ follows: __, ...leaf }) => leaf);
    const read = readArtifact({ ...old, leaves, engine_version: 'local-1' });
    expect(scoreOf(unseen('ledger'), withArtifact({ ...one, artifact: read }))).to.be.above(0.9);
  });

  it('stays under a megabyte for 50 fields and 100 examples of as many layouts', () => {
    const names = Array.from({ length: 50 }, (_, i) => `q${String(i)}x`);
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'number' }]));
    const leaf = one.artifact.leaves[0]!;
    const full = {
      ...leaf,
      places: Array.from({ length: 800 }, (_, i) => 32_000 - 800 + i),
      weights: Array.from({ length: 800 }, () => -1.234),
    };
    const artifact = {
      ...one.artifact,
      leaves: Object.keys(properties).map((name) => ({ ...full, path: `/${name}` })),
      examples: Array.from({ length: 100 }, () => 'f'.repeat(64)),
      templates: Array.from({ length: 100 }, () => ({
        marks: Array.from({ length: 60 }, (): [number, number] => [4_294_967_295, 1234]),
      })),
    };
    expect(artifactText(readArtifact(artifact)).length).to.be.below(1_000_000);
  });
});

describe('training, whatever the examples', function () {
  this.timeout(300_000);
  const layout = fc.constantFrom(...LAYOUTS);

  holds(
    'never reads a layout that it did not see worse than the rules',
    fc.property(
      fc.tuple(layout, layout),
      fc.integer({ min: 2, max: 4 }),
      fc.nat(1_000_000),
      ([taught, other], count, seed) => {
        fc.pre(taught !== other);
        const one = trained(madeUpForms(taught, count, seed), seed);
        const documents = madeUpForms(other, 3, seed + 1);
        expect(scoreOf(documents, withArtifact(one))).to.be.at.least(scoreOf(documents, extract));
      },
    ),
    0.005,
  );
});
