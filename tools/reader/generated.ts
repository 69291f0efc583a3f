import type { Document, Block, DocumentPage } from '../../engine/document/document.ts';
import type { JsonObject } from '../../engine/kernel/json.ts';
import type { Rule } from '../../engine/layout/content.ts';
import { asked, isConfusable } from './asked.ts';
import { beside, furniture, head, heading, note, parties, section, sign, title } from './blocks.ts';
import { conceptFor, Draft } from './draft.ts';
import { fields } from './fields.ts';
import { article } from './article.ts';
import { entries, wordList } from './entries.ts';
import { cover, prose, sidesOf } from './prose.ts';
import { Random } from './random.ts';
import { figures, table, totals } from './tables.ts';
import { currencyOf } from './values.ts';
import { CONCEPTS, conceptOf, dataText, LANGUAGES, type Language } from './words.ts';
import { flowDocument } from '../../engine/formats/pieces/flow.ts';
import { pdfLines } from '../../engine/formats/pdf/pdfLines.ts';
import { withNotes } from '../../engine/layout/footnotes.ts';
import { layoutPages } from '../../engine/layout/pages/layoutPages.ts';
import { withContinuedTables } from '../../engine/layout/tables/continuedTables.ts';
import type { Paper } from './paper.ts';

/** The document that the engine makes of pages with these words: lines, and blocks by its own layout. */
function asPdf(paper: Paper): Document {
  const contents = withNotes(paper.contents());
  const blocks = layoutPages(contents);
  const pages = contents.map(({ words, width, height }, index): DocumentPage => ({
    page: index + 1,
    status: words.length === 0 ? 'empty' : 'ok',
    source: paper.style.isScan ? 'ocr' : 'text_layer',
    detail: null,
    width,
    height,
    rotation: 0,
    lines: pdfLines(words),
    blocks: blocks[index] ?? [],
  }));
  return { mimeType: 'application/pdf', pages: withContinuedTables(pages), warnings: [] };
}

/** The same as a document without geometry, such as a DOCX: its blocks one after another. */
const asFlow = (document: Document, mimeType: string): Document =>
  flowDocument({ mimeType, blocks: document.pages.flatMap(({ blocks }) => blocks.map(withoutBox)) });

const withoutBox = (block: Block): Block =>
  block.kind === 'table'
    ? { ...block, box: null, cells: block.cells.map((cell) => ({ ...cell, box: null })) }
    : { ...block, box: null };

/** A document that was made up, with a schema to ask of it and the answer. */
export interface GeneratedDocument {
  readonly kind: string;
  /** As the engine's parsers would have made it. */
  readonly document: Document;
  readonly schema: JsonObject;
  /** Null where it is not on the pages, or where the field was left blank. */
  readonly truth: JsonObject;
  /** JSON Pointers of what does not stand on the pages as such: boxes that are ticked. */
  readonly derived: readonly string[];
  /** Lines that are drawn on each page; the document does not have them. */
  readonly rules: readonly (readonly Rule[])[];
}

interface Part {
  readonly verb: string;
  readonly words: readonly string[];
  /** How often it is there. */
  readonly share: number;
  /** Between the verb and the colon. */
  readonly before: readonly string[];
}

interface Kind {
  readonly name: string;
  readonly titles: Readonly<Partial<Record<Language, readonly string[]>>>;
  readonly parts: readonly Part[];
  readonly absent: readonly string[];
}

const words = (text: string): readonly string[] => text.split(' ').filter((word) => word !== '');

function partOf(line: string): Part {
  const [, share, verb = '', rest = ''] = /^(?:(\d+)% )?(\S+) ?(.*)$/.exec(line) ?? [];
  const [before, after] = rest.includes(': ') ? rest.split(': ', 2) : ['', rest];
  return {
    verb,
    words: words(after ?? ''),
    before: words(before ?? ''),
    share: share === undefined ? 1 : Number(share) / 100,
  };
}

function kindOf(text: string): Kind {
  const [name = '', ...lines] = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const isTitle = (line: string): boolean => LANGUAGES.some((language) => line.startsWith(`${language} `));
  const parts = lines.filter((line) => !isTitle(line)).map(partOf);
  return {
    name,
    titles: Object.fromEntries(
      lines.filter(isTitle).map((line) => [line.slice(0, 2), line.slice(3).split('|')]),
    ),
    parts: parts.filter(({ verb }) => verb !== 'absent'),
    absent: parts.filter(({ verb }) => verb === 'absent').flatMap((part) => part.words),
  };
}

const ALL: ReadonlyMap<string, Kind> = new Map(
  dataText('kinds.txt')
    .split(/\n\s*\n/)
    .map(kindOf)
    .filter(({ name }) => name !== '')
    .map((kind) => [kind.name, kind]),
);

/** Names of the kinds of documents. */
export const KINDS: readonly string[] = [...ALL.keys()];

interface Making {
  readonly draft: Draft;
  readonly titles: readonly string[];
  /** Rows of the last table. */
  rows: ReturnType<typeof table>;
}

/** The ids of a part that are there this time, now and then in another order. */
function chosen({ random }: Draft, ids: readonly string[]): readonly string[] {
  const some = ids.filter((id) => !id.endsWith('?') || random.chance(0.55)).map((id) => id.replace('?', ''));
  return random.chance(0.3) ? random.shuffled(some) : some;
}

const issuerOf = ({ parts }: Kind): string | undefined => parts.find(({ verb }) => verb === 'head')?.words[0];

const sectionName = (draft: Draft): string =>
  draft
    .word('sections')
    .replace('{n}', String(draft.random.int(1, 6)))
    .replace('{r}', draft.random.pick(['A', 'B', 'C', 'I', 'II', 'III', 'IV']));

type Make = (making: Making, ids: readonly string[], part: Part) => void;

const columnsFirst = ({ words: all }: Part, draft: Draft): readonly string[] =>
  all.filter((id) => !id.endsWith('?') || draft.random.chance(0.55)).map((id) => id.replace('?', ''));

const VERBS: Readonly<Record<string, Make>> = {
  head: ({ draft }, [role = '']) => head(draft, role),
  title: ({ draft, titles }) => title(draft, titles),
  heading: ({ draft }, [id = '']) => heading(draft, id),
  section: ({ draft }) => section(draft, sectionName(draft)),
  fields: ({ draft }, ids) => {
    if (draft.random.chance(0.2)) section(draft, sectionName(draft));
    fields(draft, ids);
  },
  parties: ({ draft }, roles) => parties(draft, roles),
  beside: ({ draft }, _, part) => {
    const [role = '', ...ids] = part.words;
    beside(draft, role, chosen(draft, ids));
  },
  table: (making, _, part) => {
    const { draft } = making;
    const [names = '', ...rest] = part.before;
    const [, share, group] = /\[(\d+)% by (\w+)\]/.exec(rest.join(' ')) ?? [];
    const isGrouped = group !== undefined && draft.random.chance(Number(share) / 100);
    making.rows = table(draft, {
      names: names.split('|'),
      columns: columnsFirst(part, draft),
      groups: isGrouped ? [group] : [],
      most: draft.random.pick([3, 6, 12, 40]),
    });
  },
  totals: ({ draft, rows }, _, part) => totals(draft, columnsFirst(part, draft), rows),
  prose: ({ draft, titles }, _, part) => prose(draft, part.words, titles),
  cover: ({ draft, titles }, _, part) => cover(draft, part.words, titles),
  entries: ({ draft }, _, part) =>
    entries(draft, (part.before[0] ?? '').split('|'), columnsFirst(part, draft)),
  words: ({ draft }, [id = ''], part) => wordList(draft, (part.before[0] ?? '').split('|'), id),
  figures: ({ draft }, _, part) => figures(draft, (part.words[0] ?? '').split('|')),
  article: ({ draft }) => article(draft),
  sign: ({ draft }, roles) => sign(draft, sidesOf(draft, roles)),
  note: ({ draft }) => note(draft),
};

/** Fields that documents of this kind do not have as a rule: what is asked for is found among anything. */
function others(draft: Draft): void {
  const { random } = draft;
  const known = [...CONCEPTS.values()].filter(
    ({ id, is }) => is !== 'role' && !id.startsWith('.') && !ROWS_ONLY.test(id) && draft.has(id),
  );
  const some = random.some(known, random.int(3, 14)).filter(({ id }) => !isConfusable(id, draft));
  if (some.length === 0) return;
  if (random.chance(0.5)) section(draft, sectionName(draft));
  fields(
    draft,
    some.map(({ id }) => id),
  );
}

/** What makes sense as a column of a table alone. */
const ROWS_ONLY = new RegExp(
  '^(position|unit|rank|figure.*|group|.*_month|scale|line_total|debit|credit|balance|vote_share|abstract|' +
    'document_title)$',
);

function languageFor({ titles }: Kind, random: Random, { page }: Told): Language {
  const others = LANGUAGES.filter((language) => language !== 'en' && titles[language] !== undefined);
  const drawn = others.length === 0 || random.chance(0.45) ? 'en' : random.pick(others);
  return page ?? drawn;
}

/** Languages that are given, not drawn. */
interface Told {
  readonly page?: Language;
  readonly schema?: Language;
}

/** The kinds that have titles in a language. */
export const kindsIn = (language: Language): readonly string[] =>
  [...ALL.values()].filter(({ titles }) => titles[language] !== undefined).map(({ name }) => name);

/**
 * A document of a kind. Pure: the same kind and seed give the same document, schema and truth. Throws a
 * `RangeError` where there is no such kind.
 */
export function generated(kind: string, seed: number, told: Told = {}): GeneratedDocument {
  const plan = ALL.get(kind);
  if (plan === undefined) throw new RangeError(`no kind of documents is named ${kind}`);
  const random = new Random(`${kind}:${seed}`);
  const draft = new Draft(random, languageFor(plan, random, told));
  const making: Making = { draft, titles: plan.titles[draft.language] ?? [], rows: [] };
  for (const part of plan.parts) {
    if (!random.chance(part.share)) continue;
    VERBS[part.verb]?.(making, chosen(draft, part.words), part);
    if (part.verb === 'table') continue;
    if (random.chance(0.06)) note(draft);
    if (random.chance(0.12)) others(draft);
  }
  sayCurrency(draft);
  const known = plan.absent.filter(isKnown);
  const { schema, truth, derived } = asked(draft, known, told.schema);
  const document = parsed(draft, issuerOf(plan));
  return { kind, document, schema, truth, derived, rules: draft.paper.contents().map(({ rules }) => rules) };
}

/** The currency that a sign says: asked for now and then where amounts stand on the page. */
function sayCurrency({ facts, habits, random }: Draft): void {
  const json = currencyOf(habits);
  const hasMoney = [...facts].some(([id, fact]) => fact.json !== null && conceptFor(id).is === 'money');
  if (json === undefined || !hasMoney || facts.has('currency') || random.chance(0.6)) return;
  facts.set('currency', { id: 'currency', json, isDerived: true });
}

const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

const wordsIn = ({ pages }: Document): number =>
  pages.reduce((sum, { lines }) => sum + lines.reduce((all, line) => all + line.words.length, 0), 0);

/** The document as parsers make it: of pages with their places, or now and then of a flow without any. */
function parsed(draft: Draft, issuer: string | undefined): Document {
  const { paper, random } = draft;
  if (!paper.style.isScan && random.chance(0.12)) {
    const pdf = asPdf(paper);
    const flow = asFlow(pdf, DOCX);
    if (wordsIn(flow) >= wordsIn(pdf)) return flow;
  }
  furniture(draft, issuer === undefined ? undefined : draft.shown(`${issuer}.name`));
  return asPdf(paper);
}

function isKnown(id: string): boolean {
  try {
    conceptOf(id);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
