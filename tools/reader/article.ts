import type { Json } from '../../engine/kernel/json.ts';
import { section } from './blocks.ts';
import type { Draft } from './draft.ts';
import { wordList } from './entries.ts';
import type { Look } from './paper.ts';
import { textOf, valueOf } from './values.ts';
import { conceptOf, listOf } from './words.ts';

const VALUE: Look = { isLabel: false };

interface Area {
  readonly from: number;
  readonly to: number;
}

/** Ways to cite: `{a}` authors, `{t}` title, `{j}` journal, `{v}` volume, `{p}` pages, `{y}` year, `{n}` number. */
const CITED = [
  '[{n}] {a}. {t}. {j}, {v}:{p}, {y}.',
  '{a} ({y}). {t}. {j}, {v}, {p}.',
  '{n}. {a}, “{t},” {j}, vol. {v}, pp. {p}, {y}.',
  '{a}: {t}. In: {j} {v} ({y}), {p}',
];
const PARTS = [
  ['{a}', 'ref_authors'],
  ['{t}', 'paper_title'],
  ['{j}', 'journal'],
  ['{v}', 'volume'],
  ['{p}', 'page_range'],
  ['{y}', 'publication_year'],
] as const;

function references(draft: Draft, area: Area): void {
  const { paper, random, habits } = draft;
  const form = random.pick(CITED);
  const rows = Array.from({ length: random.int(3, 9) }, (_, index) => {
    const row = PARTS.map(([slot, id]) => ({ slot, id, value: valueOf(conceptOf(id), habits) }));
    const text = row.reduce((said, { slot, value }) => said.replace(slot, () => textOf(value)), form);
    paper.prose(text.replace('{n}', String(index + 1)), { ...VALUE, ...area, size: paper.size * 0.9 });
    return Object.fromEntries(row.map(({ id, value }): [string, Json] => [id, value.json]));
  });
  const columns = PARTS.map(([, id]) => id);
  draft.lists.push({ names: ['references', 'bibliography', 'citations'], columns, rows });
}

function centred({ paper }: Draft, text: string, look: Look): void {
  for (const one of paper.lines(text, paper.right - paper.left, look)) {
    paper.write((paper.style.width - paper.widthOf(one, look)) / 2, paper.y, one, { ...VALUE, ...look });
    paper.y += (look.size ?? paper.size) * 1.25;
  }
}

/** Where and when it was published, at the top of the first page. */
function published(draft: Draft): void {
  const { paper } = draft;
  const look = { ...VALUE, size: paper.size * 0.85 };
  const [journal, volume, year, pages] = ['journal', 'volume', 'publication_year', 'page_range'].map((id) =>
    draft.say(id).join(' '),
  );
  paper.prose(`${journal ?? ''} ${volume ?? ''} (${year ?? ''}) ${pages ?? ''}`, look);
  if (draft.random.chance(0.5)) paper.prose(`${draft.label('doi')}: ${draft.say('doi').join(' ')}`, look);
  paper.y += paper.size;
}

function abstract(draft: Draft): void {
  const { paper, random } = draft;
  const [label, text] = [draft.label('abstract'), draft.slot('abstract')];
  const area = random.chance(0.5) ? { from: paper.left + 20, to: paper.right - 20 } : {};
  if (random.chance(0.5))
    paper.prose(`${label}${random.pick(['.', ':', ' —'])} ${text}`, { ...VALUE, ...area });
  else {
    section(draft, label);
    paper.prose(text, VALUE);
  }
  paper.y += paper.size * 0.5;
}

/** Sections of text within a column, down to where the references begin. */
function sections(draft: Draft, area: Area, { first, floor }: { first: number; floor: number }): void {
  const { paper, random } = draft;
  const count = random.int(1, 3);
  for (let n = 0; n < count && paper.y < floor; n += 1) {
    const name = draft.word('nouns').replace(/^./, (letter) => letter.toUpperCase());
    paper.write(area.from, paper.y, `${first + n} ${name}`, { bold: true });
    paper.y += paper.step * 1.3;
    paper.prose(random.some(listOf(draft.words, 'sentences'), 4).join(' '), area);
    paper.y += paper.size * 0.6;
  }
}

/** A paper: title, authors with where they work, abstract, keywords, sections, references; in one or two columns. */
export function article(draft: Draft): void {
  const { paper, random } = draft;
  if (random.chance(0.4)) published(draft);
  centred(draft, draft.say('paper_title').join(' '), { size: paper.size * 1.7, bold: random.chance(0.7) });
  paper.y += paper.size * 0.6;
  authors(draft);
  paper.y += paper.size;
  abstract(draft);
  if (random.chance(0.7)) wordList(draft, ['keywords', 'index_terms', 'subjects'], 'keyword');
  const middle = (paper.left + paper.right) / 2;
  const two = [
    { from: paper.left, to: middle - 8 },
    { from: middle + 8, to: paper.right },
  ];
  const areas = random.chance(0.45) ? two : [{ from: paper.left, to: paper.right }];
  const [top, floor] = [paper.y, paper.style.height - paper.style.margin - 150];
  for (const [index, area] of areas.entries()) {
    paper.y = top;
    sections(draft, area, { first: 1 + 3 * index, floor });
  }
  const last = areas.at(-1);
  if (last === undefined || paper.y > floor + 60 || random.chance(0.2)) return;
  paper.write(last.from, paper.y, draft.styled('References'), { bold: true });
  paper.y += paper.step * 1.3;
  references(draft, last);
}

function authors(draft: Draft): void {
  const { random, habits } = draft;
  const rows = Array.from({ length: random.int(1, 5) }, () => ({
    author: textOf(valueOf(conceptOf('author'), habits)),
    affiliation: textOf(valueOf(conceptOf('affiliation'), habits)),
    author_email: textOf(valueOf(conceptOf('author_email'), habits)),
  }));
  const way = random.int(0, 2);
  if (way === 0)
    for (const row of rows) {
      centred(draft, row.author, {});
      centred(draft, row.affiliation, { italic: true, size: draft.paper.size * 0.9 });
      centred(draft, row.author_email, { size: draft.paper.size * 0.9 });
    }
  else {
    centred(draft, rows.map(({ author }, i) => (way === 1 ? `${author} ${i + 1}` : author)).join(', '), {});
    for (const [i, row] of rows.entries())
      centred(draft, `${way === 1 ? `${i + 1} ` : ''}${row.affiliation}, ${row.author_email}`, {
        size: draft.paper.size * 0.85,
      });
  }
  draft.lists.push({
    names: ['authors', 'contributors'],
    columns: ['author', 'affiliation', 'author_email'],
    rows,
  });
}
