import type { Json } from '../../engine/kernel/json.ts';
import { section } from './blocks.ts';
import type { Draft } from './draft.ts';
import type { Look } from './paper.ts';
import { monthsOf, sentence, textOf, valueOf, type Value } from './values.ts';
import { conceptOf, listOf } from './words.ts';

const VALUE: Look = { isLabel: false };

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

function entryOf({ habits }: Draft, ids: readonly string[]): Entry {
  const [start, end] = monthsOf(habits);
  const months: Readonly<Record<string, Value>> = { from_month: start, to_month: end };
  return new Map(ids.map((id) => [id, months[id] ?? valueOf(conceptOf(id), habits)]));
}

/** Records that follow each other as blocks of text that look alike. */
export function entries(draft: Draft, names: readonly string[], columns: readonly string[]): void {
  const { paper, random } = draft;
  const ids = columns.filter((id) => draft.has(id));
  headed(draft, names, ids);
  const draw = random.pick(ENTRIES);
  const all = Array.from({ length: random.int(1, 6) }, () => entryOf(draft, ids));
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
