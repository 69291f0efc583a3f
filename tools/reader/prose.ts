import type { Draft } from './draft.ts';
import type { Look } from './paper.ts';
import { section } from './blocks.ts';
import { sentence, thing } from './values.ts';
import { dataText, labelsOf } from './words.ts';

const VALUE: Look = { isLabel: false };

interface Prose {
  /** One of these begins. */
  readonly first: readonly string[];
  /** Some of these follow. */
  readonly more: readonly string[];
}

/** Reads `words/prose.txt`: by name, then by language. */
function proseIn(text: string): ReadonlyMap<string, Prose> {
  const read = new Map<string, { first: string[]; more: string[] }>();
  for (const part of text.split(/\n\s*\n/)) {
    const [name = '', ...lines] = part.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    for (const line of lines) {
      const [, language = '', more = '', said = ''] = /^([a-z]{2})(-?) (.*)$/.exec(line) ?? [];
      const key = `${name} ${language}`;
      const prose = read.get(key) ?? { first: [], more: [] };
      read.set(key, prose);
      (more === '' ? prose.first : prose.more).push(said);
    }
  }
  return read;
}

const PROSE = proseIn(dataText('prose.txt'));

/** Sides of agreements: any of these pairs may make one. */
const SIDES = [
  ['landlord', 'tenant'],
  ['provider', 'customer'],
  ['seller', 'buyer'],
  ['owner', 'contractor'],
  ['employer', 'employee'],
  ['principal', 'agent'],
] as const;

/** Who `A` and `B` of a part are on this document. */
export function sidesOf(draft: Draft, names: readonly string[]): readonly string[] {
  const known = SIDES.filter((pair) => pair.every((role) => labelsOf(role, draft.language).length > 0));
  const pair: readonly string[] = draft.sides ?? draft.random.pick(known);
  draft.sides = pair;
  return names.map((name) => (name === 'A' ? (pair[0] ?? name) : name === 'B' ? (pair[1] ?? name) : name));
}

interface Filling {
  readonly title: string;
  readonly sides: readonly string[];
  readonly number: number;
}

function filled(draft: Draft, template: string, { title, sides, number }: Filling): string {
  const [a = '', b = ''] = sides;
  return template.replace(/\{([^}]+)\}/g, (_, slot: string) => {
    if (slot === 'sentence') return sentence(draft.habits);
    if (slot === 'thing') return thing(draft.habits);
    if (slot === 'title') return title;
    if (slot === 'n') return String(number);
    if (slot === 'a' || slot === 'b') return labelsOf(slot === 'a' ? a : b, draft.language)[0] ?? '';
    return draft.slot(slot.replace(/^A\./, `${a}.`).replace(/^B\./, `${b}.`));
  });
}

/** Prose with values in it: a beginning, and some of what may follow. */
export function prose(
  draft: Draft,
  [name = '', ...roles]: readonly string[],
  titles: readonly string[],
): void {
  const { paper, random, language } = draft;
  const found = PROSE.get(`${name} ${language}`);
  if (found === undefined) return;
  const sides = sidesOf(draft, roles);
  const said = draft.facts.get('document_title')?.json;
  const title = typeof said === 'string' ? said : random.pick(titles);
  const more = random.some(found.more, random.int(1, Math.max(1, found.more.length)));
  const all = [random.pick(found.first), ...more];
  const texts = all.map((one, index) => filled(draft, one, { title, sides, number: index }));
  const headings = random.chance(0.3);
  for (const text of random.chance(0.2) ? [texts.join(' ')] : texts) {
    paper.room(paper.step * 2);
    clause(draft, text, headings);
    paper.y += paper.size * random.pick([0.3, 0.7, 1]);
  }
}

function clause(draft: Draft, text: string, headings: boolean): void {
  const [, first, rest] = (headings ? CLAUSE.exec(text) : undefined) ?? [];
  if (first !== undefined) section(draft, first);
  draft.paper.prose(rest ?? text, VALUE);
}

/** A clause whose number and name may be its heading. */
const CLAUSE = /^((?:§ |Art\. |Article )?\d+[. -]+\p{Lu}[\p{L} ]+\.) (.+)$/u;

/** A page with little more than a title and who takes part. */
export function cover(draft: Draft, roles: readonly string[], titles: readonly string[]): void {
  const { paper, random } = draft;
  const text = random.pick(titles).toUpperCase();
  draft.facts.set('document_title', { id: 'document_title', json: text });
  const centred = (shown: string, look: Look): void => {
    for (const one of paper.lines(shown, paper.right - paper.left, look)) {
      paper.write((paper.style.width - paper.widthOf(one, look)) / 2, paper.y, one, { ...VALUE, ...look });
      paper.y += (look.size ?? paper.size) * 2;
    }
  };
  paper.y = paper.style.height * random.pick([0.15, 0.3]);
  if (random.chance(0.5)) centred(draft.say('agreement_date').join(' '), {});
  centred(text, { size: paper.size * 1.8, bold: true });
  for (const [index, role] of sidesOf(draft, roles).entries()) {
    if (index > 0) centred(draft.word('and'), {});
    centred(draft.say(`${role}.name`).join(' '), { bold: random.chance(0.6) });
    if (random.chance(0.5))
      centred(random.chance(0.5) ? `(${draft.label(role)})` : `as ${draft.label(role)}`, {});
  }
  paper.turn();
}
