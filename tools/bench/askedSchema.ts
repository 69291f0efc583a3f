import type { JsonObject } from '@quire/engine/kernel/json';

const OF = 'net gross total average annual quarterly deferred current other accrued operating minimum'.split(
  ' ',
);
const WHAT = (
  'revenue income tax asset liability interest payment lease dividend share goodwill inventory receivable expense ' +
  'margin cash debt equity pension impairment'
).split(' ');
const HOW = ['amount', 'rate', 'date', 'description', 'balance'];
const MEMBERS = 6;

/** A type that the last word of a name goes with. */
const typeFor = (how: string): JsonObject => {
  if (how === 'date') return { type: 'string', format: 'date' };
  return { type: how === 'description' ? 'string' : 'number' };
};

const named = (at: number): readonly [string, JsonObject] => {
  const [of, what, how] = [OF[at % OF.length], WHAT[(at * 7) % WHAT.length], HOW[(at * 3) % HOW.length]];
  const again = Math.floor(at / (OF.length * HOW.length));
  const name = [of, what, how, ...(again === 0 ? [] : [String(again)])].join('_');
  return [
    name,
    { ...typeFor(how ?? ''), description: `The ${of ?? ''} ${what ?? ''} as reported: ${how ?? ''}` },
  ];
};

/** A schema of about so many fields, all of them different: half of them alone, half as members of lists of six. */
export function askedSchema(fields: number): JsonObject {
  const alone = Array.from({ length: Math.ceil(fields / 2) }, (_, i) => named(i));
  const lists = Array.from({ length: Math.floor(fields / 2 / MEMBERS) }, (_, list): [string, JsonObject] => {
    const members = Array.from({ length: MEMBERS }, (__, i) => named(1_000 + list * MEMBERS + i));
    const items = { type: 'object', properties: Object.fromEntries(members) };
    return [`schedule_${String(list)}`, { type: 'array', items }];
  });
  return { type: 'object', properties: Object.fromEntries([...alone, ...lists]) };
}
