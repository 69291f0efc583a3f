import type { Draft } from './draft.ts';
import type { Look } from './paper.ts';
import { sideFields } from './fields.ts';
import { dateText, dayOf, sentence } from './values.ts';
import { conceptOf, labelsOf, listOf } from './words.ts';

const VALUE: Look = { isLabel: false };

/** A line at the left, in the middle or at the right. */
function line(draft: Draft, text: string, look: Look & { place?: string } = {}): void {
  const { paper } = draft;
  const { size = paper.size, place = 'left' } = look;
  const shown = paper.lines(text, paper.right - paper.left, look);
  for (const one of shown) {
    paper.room(size * 1.4);
    const free = paper.right - paper.left - paper.widthOf(one, look);
    const x = paper.left + Math.max(0, place === 'middle' ? free / 2 : place === 'right' ? free : 0);
    paper.write(x, paper.y, one, look);
    paper.y += size * paper.style.leading;
  }
}

/** Who the paper is from, without labels or with small ones: name, address, telephone, numbers. */
export function head(draft: Draft, role: string): void {
  const { paper, random } = draft;
  const place = random.pick(['left', 'left', 'middle', 'right']);
  const look = { ...VALUE, place };
  line(draft, draft.say(`${role}.name`).join(' '), {
    ...look,
    size: paper.size * random.pick([1, 1.2, 1.6, 2]),
    bold: random.chance(0.6),
  });
  const isPerson = conceptOf(`${role}.name`).is === 'person';
  if (!isPerson && random.chance(0.15)) line(draft, sentence(draft.habits), look);
  const oneLine = random.chance(0.35);
  if (random.chance(0.85)) {
    const address = draft.say(`${role}.address`);
    const joint = random.pick([', ', ' · ', ' - ', ', ']);
    for (const one of oneLine ? [address.join(joint)] : address) line(draft, one, look);
  }
  const parts = random
    .shuffled(['phone', 'fax', 'email', 'website', 'tax_id'])
    .filter(() => random.chance(0.45));
  const shown = parts.map((part) => {
    const id = `${role}.${part}`;
    const bare = random.chance(part === 'email' || part === 'website' ? 0.6 : 0.1);
    const mark = random.pick([':', ':', '', ' :']);
    return (bare ? '' : `${draft.label(id)}${mark} `) + draft.say(id).join(' ');
  });
  for (const one of oneLine && shown.length > 0 ? [shown.join(random.pick(['  ', ' | ', ' · ']))] : shown)
    line(draft, one, look);
  if (random.chance(0.25)) paper.rule(paper.left, paper.y + 2, paper.right, paper.y + 2);
  paper.y += paper.size * random.pick([0.6, 1, 1.8]);
}

/** What the paper is; a value of its own where a schema asks for it. */
export function title(draft: Draft, titles: readonly string[]): void {
  const { paper, random } = draft;
  const plain = random.pick(titles);
  const text = random.chance(0.3) ? plain.toUpperCase() : plain;
  draft.facts.set('document_title', { id: 'document_title', json: text });
  const size = paper.size * random.pick([1.2, 1.4, 1.7, 2.1]);
  const bold = random.chance(0.75);
  line(draft, text, { ...VALUE, size, bold, place: random.pick(['left', 'middle', 'middle', 'right']) });
  paper.y += size * 0.5;
}

/** A title of the document's own: a heading that says a concept. */
export function heading(draft: Draft, id: string): void {
  const { paper, random } = draft;
  const size = paper.size * random.pick([1.3, 1.6, 1.9]);
  line(draft, draft.say(id).join(' '), {
    ...VALUE,
    size,
    bold: random.chance(0.8),
    place: random.pick(['left', 'middle']),
  });
  paper.y += size * 0.4;
}

/** The heading of a part of the document. */
export function section(draft: Draft, text: string): void {
  const { paper, random } = draft;
  paper.room(paper.step * 4);
  paper.y += paper.size * 0.6;
  const size = paper.size * random.pick([1, 1.1, 1.25]);
  line(draft, draft.styled(text), { size, bold: random.chance(0.85) });
  if (random.chance(0.25)) {
    paper.rule(paper.left, paper.y, paper.right, paper.y);
    paper.y += 3;
  }
  paper.y += paper.size * 0.3;
}

const PARTS = ['contact', 'phone', 'fax', 'email', 'tax_id', 'number', 'country', 'title', 'website'];

/** The lines of somebody who takes part: name, address, and some more with their labels. */
function partyLines(draft: Draft, role: string): readonly string[] {
  const { random } = draft;
  const name = draft.say(`${role}.name`);
  const lines = [...name];
  if (random.chance(0.85)) {
    const address = draft.say(`${role}.address`);
    lines.push(...(random.chance(0.2) ? [address.join(', ')] : address));
  }
  for (const part of random.some(PARTS, 3).filter(() => random.chance(0.35))) {
    const id = `${role}.${part}`;
    if (!draft.has(id)) continue;
    lines.push(`${draft.label(id)}${random.pick([':', ':', ''])} ${draft.say(id).join(' ')}`);
  }
  return lines;
}

/** Those of some who have a label in the document's language. */
const labelled = ({ language }: Draft, roles: readonly string[]): readonly string[] =>
  roles.filter((role) => labelsOf(role, language).length > 0);

interface PartyPlace {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  /** Before the lines; '' where there is none. */
  readonly label: string;
  readonly look: Look;
  /** The label stands to the left of the lines, not above. */
  readonly beside: boolean;
}

/** One who takes part under, or beside, what it is; returns where it ends. */
function party(draft: Draft, role: string, { x, y, width, label, look, beside }: PartyPlace): number {
  const { paper } = draft;
  const end = label === '' ? x : paper.write(x, y, label, look);
  const at = beside ? Math.max(x + 70, end + 8) : x;
  let next = beside || label === '' ? y : y + (look.size ?? paper.size) * paper.style.leading;
  for (const one of partyLines(draft, role).flatMap((text) => paper.lines(text, width - (at - x) - 10))) {
    paper.write(at, next, one, VALUE);
    next += paper.step;
  }
  return next;
}

/** Those who take part, side by side or below each other, each under what it is. */
export function parties(draft: Draft, roles: readonly string[]): void {
  const { paper, random } = draft;
  const shown = labelled(draft, roles);
  if (shown.length === 0) return;
  paper.room(paper.step * 8);
  const per = random.chance(0.25) ? 1 : Math.min(shown.length, random.pick([2, 2, 3]));
  const [ruled, bare] = [random.chance(0.3), shown.length === 1 && random.chance(0.3)];
  const mark = random.pick([':', ':', '', '']);
  const look = { bold: random.chance(0.6), size: paper.size * random.pick([0.8, 1, 1, 1.1]) };
  const width = (paper.right - paper.left) / per;
  const indent = shown.length === 1 ? width * random.pick([0, 0, 0, 0, 0.55]) : 0;
  const beside = !bare && per === 1 && random.chance(0.3);
  for (let i = 0; i < shown.length; i += per) {
    const row = shown.slice(i, i + per);
    const y0 = paper.y;
    const ends = row.map((role, j) => {
      const x = paper.left + indent + j * width + 4;
      const label = bare ? '' : draft.label(role) + mark;
      return party(draft, role, { x, y: y0 + 3, width: width - indent, label, look, beside });
    });
    const bottom = Math.max(...ends) + 3;
    for (const j of ruled ? row.keys() : [])
      paper.frame([paper.left + j * width, y0, paper.left + (j + 1) * width, bottom]);
    paper.y = bottom + paper.size * random.pick([0.6, 1, 1.6]);
  }
}

/** Somebody at the left, the document's numbers and dates at the right. */
export function beside(draft: Draft, role: string, ids: readonly string[]): void {
  const { paper, random } = draft;
  paper.room(paper.step * 8);
  const y0 = paper.y;
  const [near, far] = [paper.left, paper.left + (paper.right - paper.left) * random.pick([0.52, 0.58])];
  const [x, other] = random.chance(0.85) ? [near, far] : [far, near];
  const lines = random.chance(0.6) && draft.has(role) ? [draft.label(role)] : [];
  let y = y0;
  for (const one of [...lines, ...partyLines(draft, role)].flatMap((text) => paper.lines(text, 220))) {
    paper.write(x, y, one, VALUE);
    y += paper.step;
  }
  const height = sideFields(draft, ids, { x: other, width: paper.right - far });
  paper.y = Math.max(y, y0 + height) + paper.size * 1.2;
}

/** What stands where somebody signs, from top to bottom; '' is the line to sign on. */
function signature(draft: Draft, role: string, style: number): readonly string[] {
  const { random } = draft;
  const name = draft.say(`${role}.name`).join(' ');
  const job = random.chance(0.5) && draft.has(`${role}.title`) ? draft.say(`${role}.title`) : [];
  if (style === 1) return ['', name, ...job, draft.label(role)];
  const first = draft.label(role) + random.pick([':', '']);
  if (style === 2) return [first, '', name, ...job];
  const by = draft.language === 'en' ? 'By' : draft.label(role);
  const withLabel = (part: string, text: string): string => `${draft.label(`${role}.${part}`)}: ${text}`;
  return [
    first,
    `${by}: ____________________`,
    withLabel('name', name),
    ...job.map((text) => withLabel('title', text)),
  ];
}

/** Lines to sign on: who, and as what. */
export function sign(draft: Draft, names: readonly string[]): void {
  const { paper, random } = draft;
  const roles = labelled(draft, names);
  if (roles.length === 0) return;
  paper.room(paper.step * 8);
  paper.y += paper.step * random.pick([1, 2]);
  const width = (paper.right - paper.left) / Math.max(2, roles.length);
  const [style, y0] = [random.int(0, 2), paper.y];
  for (const [j, role] of roles.entries()) {
    const x = paper.left + j * width;
    let y = y0;
    for (const text of signature(draft, role, style)) {
      if (text === '') paper.rule(x, y + paper.step, x + width - 20, y + paper.step);
      for (const one of text === '' ? [''] : paper.lines(text, width - 12)) {
        paper.write(x, y, one, VALUE);
        y += paper.step * (text === '' ? 1.3 : 1);
      }
    }
    paper.y = Math.max(paper.y, y);
  }
  paper.y += paper.size;
}

/** Sentences that say nothing that is asked for. */
export function note(draft: Draft): void {
  const { paper, random } = draft;
  const some = random.some(listOf(draft.words, 'sentences'), random.int(1, 4));
  if (random.chance(0.25)) {
    const mark = random.pick(['•', '-', '*']);
    for (const [index, one] of some.entries())
      paper.prose(`${random.chance(0.4) ? `${index + 1}.` : mark} ${one}`);
  } else paper.prose(some.join(' '), { size: paper.size * random.pick([0.8, 1]) });
  paper.y += paper.size * 0.8;
}

/** A stamp at the right, with a day that is not asked for. */
function stamp(draft: Draft): void {
  const { paper, random, habits } = draft;
  const y = random.int(10, 24);
  const x = paper.right - 120;
  const look = { size: paper.size * 0.9, bold: true };
  paper.write(x, y, draft.word('stamps'), look);
  if (random.chance(0.6)) paper.write(x, y + look.size * 1.2, dateText(dayOf(habits), habits), look);
}

/** What stands at the top or bottom of every page, and along an edge. */
export function furniture(draft: Draft, issuer: string | undefined): void {
  const { paper, random } = draft;
  const { height } = paper.style;
  if (random.chance(paper.pages > 1 ? 0.8 : 0.25))
    paper.furnish(height - 24, draft.word('page'), random.pick(['middle', 'right', 'left']));
  if (random.chance(0.15) && issuer !== undefined)
    paper.furnish(14, issuer, random.pick(['left', 'middle', 'right']));
  if (random.chance(0.12)) stamp(draft);
  if (random.chance(0.05)) paper.along(random.filled('Form @@-### (##/20##)'));
}
