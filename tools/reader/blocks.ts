import type { Draft } from './draft.ts';
import type { Look } from './paper.ts';
import { sideFields } from './fields.ts';
import { sentence } from './values.ts';
import { labelsOf, listOf } from './words.ts';

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
  if (random.chance(0.15)) line(draft, sentence(draft.habits), look);
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

/** Those who take part, side by side or below each other, each under what it is. */
export function parties(draft: Draft, roles: readonly string[]): void {
  const { paper, random } = draft;
  const shown = roles.filter((role) => labelsOf(role, draft.language).length > 0);
  if (shown.length === 0) return;
  paper.room(paper.step * 8);
  const per = random.chance(0.25) ? 1 : Math.min(shown.length, random.pick([2, 2, 3]));
  const ruled = random.chance(0.3);
  const bare = shown.length === 1 && random.chance(0.3);
  const mark = random.pick([':', ':', '', '']);
  const look = { bold: random.chance(0.6), size: paper.size * random.pick([0.8, 1, 1, 1.1]) };
  const width = (paper.right - paper.left) / per;
  const indent = per === 1 && shown.length === 1 && random.chance(0.2) ? width * 0.55 : 0;
  for (let i = 0; i < shown.length; i += per) {
    const y0 = paper.y;
    let tallest = 0;
    for (const [j, role] of shown.slice(i, i + per).entries()) {
      const x = paper.left + indent + j * width + (ruled ? 4 : 0);
      let y = y0 + (ruled ? 3 : 0);
      const beside = !bare && per === 1 && random.chance(0.3);
      const label = bare ? '' : draft.label(role) + mark;
      const end = paper.write(x, y, label, look);
      if (!beside && !bare) y += look.size * paper.style.leading;
      const at = beside ? Math.max(x + 70, end + 8) : x;
      for (const one of partyLines(draft, role).flatMap((text) => paper.lines(text, width - (at - x) - 10))) {
        paper.write(at, y, one, VALUE);
        y += paper.step;
      }
      tallest = Math.max(tallest, y - y0);
    }
    if (ruled)
      for (const [j] of shown.slice(i, i + per).entries())
        paper.frame([paper.left + j * width, y0, paper.left + (j + 1) * width, y0 + tallest + 3]);
    paper.y = y0 + tallest + paper.size * random.pick([0.6, 1, 1.6]);
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

/** Lines to sign on: who, as what, when. */
export function sign(draft: Draft, names: readonly string[]): void {
  const { paper, random } = draft;
  const roles = names.filter((role) => labelsOf(role, draft.language).length > 0);
  if (roles.length === 0) return;
  paper.room(paper.step * 7);
  paper.y += paper.step * random.pick([1, 2]);
  const width = (paper.right - paper.left) / Math.max(2, roles.length);
  const style = random.int(0, 2);
  const y0 = paper.y;
  for (const [j, role] of roles.entries()) {
    const x = paper.left + j * width;
    let y = y0;
    const put = (text: string, look: Look = VALUE): void => {
      for (const one of paper.lines(text, width - 12, look)) {
        paper.write(x, y, one, look);
        y += paper.step;
      }
    };
    if (style !== 1) put(draft.label(role) + random.pick([':', '']), { bold: random.chance(0.4) });
    const name = draft.say(`${role}.name`).join(' ');
    if (style === 0) put('By: ____________________');
    else {
      y += paper.step;
      paper.rule(x, y, x + width - 20, y);
      y += 2;
    }
    put(style === 0 ? `Name: ${name}` : name);
    if (random.chance(0.5) && draft.has(`${role}.title`)) {
      const job = draft.say(`${role}.title`).join(' ');
      put(style === 0 ? `Title: ${job}` : job);
    }
    if (style === 1) put(draft.label(role), { size: paper.size * 0.8 });
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

/** What stands at the top or bottom of every page, and along an edge. */
export function furniture(draft: Draft, issuer: string | undefined): void {
  const { paper, random } = draft;
  const { height } = paper.style;
  if (random.chance(paper.pages > 1 ? 0.8 : 0.25))
    paper.furnish(height - 24, draft.word('page'), random.pick(['middle', 'right', 'left']));
  if (random.chance(0.15) && issuer !== undefined)
    paper.furnish(14, issuer, random.pick(['left', 'middle', 'right']));
  if (random.chance(0.05)) paper.along(random.filled('Form @@-### (##/20##)'));
}
