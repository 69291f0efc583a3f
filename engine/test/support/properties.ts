import fc from 'fast-check';

/** Sequences a property tries; `QUIRE_PROPERTY_RUNS` asks for more (the release check: 10,000). */
export const propertyRuns = (share = 1): number =>
  Math.max(50, Math.round(Number(process.env['QUIRE_PROPERTY_RUNS'] ?? 2_000) * share));

const seedOf = (): number =>
  process.env['QUIRE_PROPERTY_SEED'] === undefined
    ? Math.floor(Math.random() * 0x7fffffff)
    : Number(process.env['QUIRE_PROPERTY_SEED']);

/** A property that prints the seed it ran with; `QUIRE_PROPERTY_SEED` runs it again. */
export const holds = (name: string, property: fc.IRawProperty<unknown>, share = 1): void => {
  it(name, function () {
    this.timeout(600_000);
    const seed = seedOf();
    const numRuns = propertyRuns(share);
    console.log(`        seed ${seed}, ${numRuns} runs`);
    void fc.assert(property, { seed, numRuns });
  });
};
