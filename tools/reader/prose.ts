import type { Json } from '../../engine/kernel/json.ts';
import type { Draft } from './draft.ts';
import type { Look } from './paper.ts';
import { section } from './blocks.ts';
import { sentence, thing, textOf, valueOf, type Value } from './values.ts';
import { conceptOf, dataText, labelsOf, listOf } from './words.ts';

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
  const title = (draft.facts.get('document_title')?.json as string | undefined) ?? random.pick(titles);
  const more = random.shuffled(found.more).slice(0, random.int(1, Math.max(1, found.more.length)));
  const all = [random.pick(found.first), ...more];
  const together = random.chance(0.2);
  const texts = all.map((one, index) => filled(draft, one, { title, sides, number: index }));
  for (const text of together ? [texts.join(' ')] : texts) {
    paper.room(paper.step * 2);
    const [, lead, rest] = /^((?:§ |Art\. |Article )?\d+[. -]+\p{Lu}[\p{L} ]+\.) (.+)$/u.exec(text) ?? [];
    if (lead !== undefined && rest !== undefined && random.chance(0.3)) {
      section(draft, lead);
      paper.prose(rest, VALUE);
    } else paper.prose(text, VALUE);
    paper.y += paper.size * random.pick([0.3, 0.7, 1]);
  }
}

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

type Entry = ReadonlyMap<string, Value>;
type DrawEntry = (draft: Draft, entry: Entry, number: number) => void;

const textIn = (entry: Entry, id: string): string => {
  const value = entry.get(id);
  return value === undefined ? '' : textOf(value);
};
const MONTHS = new Set(['from_month', 'to_month']);
const timeOf = (draft: Draft, entry: Entry): string =>
  [...MONTHS]
    .map((id) => textIn(entry, id))
    .filter((text) => text !== '')
    .join(draft.random.chance(0.7) ? ' – ' : ` ${draft.word('to')} `);
const othersOf = (entry: Entry): readonly string[] =>
  [...entry.keys()].filter((id) => !MONTHS.has(id)).map((id) => textIn(entry, id));

function bullets(draft: Draft): void {
  const { paper, random } = draft;
  if (random.chance(0.5)) return;
  for (const text of random.some(listOf(draft.words, 'sentences'), random.int(1, 3)))
    paper.prose(`${random.chance(0.8) ? '• ' : ''}${text}`, { from: paper.left + 12 });
}

/** Ways in which the entries of one list look. */
const ENTRIES: readonly DrawEntry[] = [
  (draft, entry) => {
    const { paper } = draft;
    const [first = '', ...others] = othersOf(entry);
    const time = timeOf(draft, entry);
    paper.write(paper.left, paper.y, first, { bold: true, isLabel: false });
    paper.write(paper.right - paper.widthOf(time), paper.y, time, VALUE);
    paper.y += paper.step;
    if (others.length > 0) paper.prose(others.join(', '), { ...VALUE, italic: true });
    bullets(draft);
  },
  (draft, entry) => {
    const { paper } = draft;
    const time = timeOf(draft, entry);
    const x = paper.left + (time === '' ? 0 : 120);
    paper.write(paper.left, paper.y, time, VALUE);
    for (const text of othersOf(entry)) paper.prose(text, { ...VALUE, from: x });
    if (othersOf(entry).length === 0) paper.y += paper.step;
  },
  (draft, entry, number) => {
    const time = timeOf(draft, entry);
    draft.paper.prose(`${number}. ${othersOf(entry).join(', ')}${time === '' ? '' : ` (${time})`}`, VALUE);
    bullets(draft);
  },
  (draft, entry) => {
    const [first = '', ...others] = othersOf(entry);
    draft.paper.prose(
      [first, ...others, timeOf(draft, entry)]
        .filter((text) => text !== '')
        .join(draft.random.chance(0.5) ? ' | ' : ' – '),
      VALUE,
    );
    draft.paper.prose(sentence(draft.habits));
  },
  (draft, entry) => {
    for (const [id, value] of entry) draft.paper.prose(`${draft.label(id)}: ${textOf(value)}`, VALUE);
  },
];

/** A heading of a list: one of the words that schemas have for it, or none. */
function headed(draft: Draft, names: readonly string[], ids: readonly string[]): void {
  const fromNames = draft.language === 'en' ? (names[0] ?? '').replace(/_/g, ' ') : '';
  const text =
    fromNames === '' ? draft.label(ids[0] ?? '') : fromNames.replace(/^./, (letter) => letter.toUpperCase());
  section(draft, text);
}

/** Records that follow each other as blocks of text that look alike. */
export function entries(draft: Draft, names: readonly string[], columns: readonly string[]): void {
  const { paper, random } = draft;
  const ids = columns.filter((id) => draft.has(id));
  headed(draft, names, ids);
  const draw = random.pick(ENTRIES);
  const all = Array.from(
    { length: random.int(1, 6) },
    () => new Map(ids.map((id) => [id, valueOf(conceptOf(id), draft.habits)])),
  );
  for (const [index, entry] of all.entries()) {
    paper.room(paper.step * 3);
    draw(draft, entry, index + 1);
    paper.y += paper.size * 0.5;
  }
  const rows = all.map((entry) =>
    Object.fromEntries([...entry].map(([id, { json }]): [string, Json] => [id, json])),
  );
  draft.lists.push({ names, columns: ids, rows });
}

/** A list of plain words: in a line with marks between, or one below the other. */
export function wordList(draft: Draft, names: readonly string[], id: string): void {
  const { paper, random } = draft;
  const all = [
    ...new Set(Array.from({ length: random.int(2, 7) }, () => textOf(valueOf(conceptOf(id), draft.habits)))),
  ];
  const below = random.chance(0.4);
  if (below || random.chance(0.4)) headed(draft, names, [id]);
  if (below) for (const one of all) paper.prose(`${random.chance(0.9) ? '• ' : ''}${one}`, VALUE);
  else
    paper.prose(
      `${draft.label(id)}${random.pick([':', '.', ' —'])} ${all.join(random.pick([', ', '; ', ' · ']))}`,
      VALUE,
    );
  draft.lists.push({ names, columns: [id], rows: all.map((json) => ({ [id]: json })), isPlain: true });
  paper.y += paper.size * 0.7;
}

const REFERENCES: readonly ((texts: Readonly<Record<string, string>>, n: number) => string)[] = [
  (t, n) =>
    `[${n}] ${t['ref_authors'] ?? ''}. ${t['paper_title'] ?? ''}. ${t['journal'] ?? ''}, ${t['volume'] ?? ''}:${t['page_range'] ?? ''}, ${t['publication_year'] ?? ''}.`,
  (t) =>
    `${t['ref_authors'] ?? ''} (${t['publication_year'] ?? ''}). ${t['paper_title'] ?? ''}. ${t['journal'] ?? ''}, ${t['volume'] ?? ''}, ${t['page_range'] ?? ''}.`,
  (t, n) =>
    `${n}. ${t['ref_authors'] ?? ''}, “${t['paper_title'] ?? ''},” ${t['journal'] ?? ''}, vol. ${t['volume'] ?? ''}, pp. ${t['page_range'] ?? ''}, ${t['publication_year'] ?? ''}.`,
];

function references(draft: Draft, area: { from: number; to: number }): void {
  const { paper, random, habits } = draft;
  const ids = ['ref_authors', 'paper_title', 'journal', 'volume', 'page_range', 'publication_year'];
  const write = random.pick(REFERENCES);
  const rows: Record<string, Json>[] = [];
  for (let n = 1; n <= random.int(3, 9); n += 1) {
    const values = Object.fromEntries(ids.map((id) => [id, valueOf(conceptOf(id), habits)]));
    const texts = Object.fromEntries(Object.entries(values).map(([id, value]) => [id, textOf(value)]));
    paper.prose(write(texts, n), { ...VALUE, ...area, size: paper.size * 0.9 });
    rows.push(Object.fromEntries(Object.entries(values).map(([id, { json }]) => [id, json])));
  }
  draft.lists.push({ names: ['references', 'bibliography', 'citations'], columns: ids, rows });
}

/** A paper: title, authors with where they work, abstract, keywords, sections, references; in one or two columns. */
export function article(draft: Draft): void {
  const { paper, random } = draft;
  const centred = (text: string, look: Look): void => {
    for (const one of paper.lines(text, paper.right - paper.left, look)) {
      paper.write((paper.style.width - paper.widthOf(one, look)) / 2, paper.y, one, { ...VALUE, ...look });
      paper.y += (look.size ?? paper.size) * 1.25;
    }
  };
  if (random.chance(0.4)) {
    paper.prose(
      `${draft.say('journal').join(' ')} ${draft.say('volume').join(' ')} (${draft.say('publication_year').join(' ')}) ${draft.say('page_range').join(' ')}`,
      { ...VALUE, size: paper.size * 0.85 },
    );
    if (random.chance(0.5))
      paper.prose(`${draft.label('doi')}: ${draft.say('doi').join(' ')}`, {
        ...VALUE,
        size: paper.size * 0.85,
      });
    paper.y += paper.size;
  }
  centred(draft.say('paper_title').join(' '), { size: paper.size * 1.7, bold: random.chance(0.7) });
  paper.y += paper.size * 0.6;
  authors(draft, centred);
  paper.y += paper.size;
  const abstract = draft.slot('abstract');
  if (random.chance(0.5))
    paper.prose(`${draft.label('abstract')}${random.pick(['.', ':', ' —'])} ${abstract}`, {
      ...VALUE,
      from: paper.left + 20,
      to: paper.right - 20,
    });
  else {
    section(draft, draft.label('abstract'));
    paper.prose(abstract, VALUE);
  }
  paper.y += paper.size * 0.5;
  if (random.chance(0.7)) wordList(draft, ['keywords', 'index_terms', 'subjects'], 'keyword');
  const middle = (paper.left + paper.right) / 2;
  const areas = random.chance(0.45)
    ? [
        { from: paper.left, to: middle - 8 },
        { from: middle + 8, to: paper.right },
      ]
    : [{ from: paper.left, to: paper.right }];
  const top = paper.y;
  for (const [index, area] of areas.entries()) {
    paper.y = top;
    const floor = paper.style.height - paper.style.margin - 150;
    for (let n = 1; n <= random.int(1, 3) && paper.y < floor; n += 1) {
      paper.write(
        area.from,
        paper.y,
        `${n + 3 * index} ${random.pick(listOf(draft.words, 'nouns'))}`.replace(/ ./, (two) =>
          two.toUpperCase(),
        ),
        { bold: true },
      );
      paper.y += paper.step * 1.3;
      paper.prose(random.some(listOf(draft.words, 'sentences'), 4).join(' '), area);
      paper.y += paper.size * 0.6;
    }
    if (index === areas.length - 1 && paper.y < floor + 60 && random.chance(0.8)) {
      paper.write(area.from, paper.y, draft.styled('References'), { bold: true });
      paper.y += paper.step * 1.3;
      references(draft, area);
    }
  }
}

function authors(draft: Draft, centred: (text: string, look: Look) => void): void {
  const { random, habits } = draft;
  const rows = Array.from({ length: random.int(1, 5) }, () => ({
    author: textOf(valueOf(conceptOf('author'), habits)),
    affiliation: textOf(valueOf(conceptOf('affiliation'), habits)),
    author_email: textOf(valueOf(conceptOf('author_email'), habits)),
  }));
  const way = random.int(0, 2);
  if (way === 0)
    for (const row of rows) {
      centred(row.author, {});
      centred(row.affiliation, { italic: true, size: draft.paper.size * 0.9 });
      centred(row.author_email, { size: draft.paper.size * 0.9 });
    }
  else {
    centred(rows.map(({ author }, i) => (way === 1 ? `${author} ${i + 1}` : author)).join(', '), {});
    for (const [i, row] of rows.entries())
      centred(`${way === 1 ? `${i + 1} ` : ''}${row.affiliation}, ${row.author_email}`, {
        size: draft.paper.size * 0.85,
      });
  }
  draft.lists.push({
    names: ['authors', 'contributors'],
    columns: ['author', 'affiliation', 'author_email'],
    rows,
  });
}
