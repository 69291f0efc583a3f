import { oneOf } from '../../kernel/text.ts';
import { folded } from '../fields/words.ts';
import units from '../lexicon/units.json' with { type: 'json' };

export type Unit = keyof typeof units;

const NAMES = Object.keys(units) as readonly Unit[];
const WHOLE = NAMES.map((unit): readonly [Unit, RegExp] => [
  unit,
  new RegExp(`^${oneOf(units[unit])}$`, 'u'),
]);
const AFTER = NAMES.map((unit): readonly [Unit, RegExp] => [
  unit,
  new RegExp(
    `^[\\s-]?(?:\\(\\p{L}{1,12}\\)\\s)?(?:full |calendar |working |business )?${oneOf(units[unit])}(?![\\p{L}\\p{N}])`,
    'u',
  ),
]);

/** The unit that a word names. */
export const unitNamed = (word: string): Unit | undefined => WHOLE.find(([, shape]) => shape.test(word))?.[0];

const CHARACTERS = 30;

/** The unit that a text begins with, as it stands behind a number. */
export function unitAfter(text: string): Unit | undefined {
  const said = folded(text.slice(0, CHARACTERS));
  return AFTER.find(([, shape]) => shape.test(said))?.[0];
}
