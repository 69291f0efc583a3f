import fc from 'fast-check';

/** Sequences a property tries by default; CI asks for 2,000 and the release check for 10,000. */
const RUNS = 200;

/**
 * Sequences a property tries, by `QUIRE_PROPERTY_RUNS`; never fewer than 50. One of which a sequence takes a third
 * of a second has a share below a hundredth, and never fewer than 10.
 */
export const propertyRuns = (share = 1): number =>
  Math.max(share < 0.01 ? 10 : 50, Math.round(Number(process.env['QUIRE_PROPERTY_RUNS'] ?? RUNS) * share));

const seedOf = (): number =>
  process.env['QUIRE_PROPERTY_SEED'] === undefined
    ? Math.floor(Math.random() * 0x7fffffff)
    : Number(process.env['QUIRE_PROPERTY_SEED']);

/** Checks a property and prints the seed it ran with; `QUIRE_PROPERTY_SEED` runs it again. */
export const prove = async (
  name: string,
  property: fc.IRawProperty<unknown>,
  numRuns = propertyRuns(),
): Promise<void> => {
  const seed = seedOf();
  console.log(`        seed ${seed}, ${numRuns} runs: ${name}`);
  await fc.assert(property, { seed, numRuns });
};

/** A spec that proves a property. */
export const holds = (name: string, property: fc.IRawProperty<unknown>, share = 1): void => {
  it(name, function () {
    this.timeout(600_000);
    return prove(name, property, propertyRuns(share));
  });
};
