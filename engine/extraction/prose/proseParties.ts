import type { Finding } from '../finding.ts';
import { sentenceAt, spanFinding, type Prose, type Span } from './prose.ts';
import { folded } from '../../kernel/text.ts';
import { once } from '../../kernel/once.ts';
import { lexicon } from '../words/lexicon.ts';

/** A party as its document names it, with what is said about it up to the next. */
export interface ProseParty {
  readonly name: Span;
  /** Folded text from before the name up to the next party: its role and alias stand there. */
  readonly about: string;
  readonly strength: number;
}

const FORMS = lexicon.contracts.legal_forms.pattern;
const TOKEN =
  '(?!(?:AND|UND|ET|BETWEEN|WITH|DATED)(?!\\p{L}))(?:\\p{Lu}\\.(?:\\p{L}\\.?)+|\\p{Lu}\\.|' +
  "[\\p{Lu}\\d][\\p{L}\\p{N}'’&+/-]*|&)";
const LINK = '(?:of|the|de|del|della|di|da|do|dos|du|des|la|le|van|von|der|den|zu|for|für)';
/** Names begin with a capital; small words stand only inside, a comma only before a legal form. */
const NAME = new RegExp(
  `^(?:\\d{1,2}(?=\\p{Lu}))?\\p{Lu}[\\p{L}\\p{N}'’&+/.-]*(?:(?: (?:${LINK} ){0,2}${TOKEN}){0,9})` +
    `(?:,? ${FORMS}(?![\\p{L}])\\.?){0,2}`,
  'u',
);
export const HAS_FORM = new RegExp(`(?:^|[\\s,])${FORMS}\\.?$`, 'u');
const IS_FORM = new RegExp(`^${FORMS}\\.?$`, 'u');
const OPENERS = new RegExp(
  String.raw`(?<!\p{L})(?:by\s+and\s+(?:between|among|amongst)|by\s+and\s+amongst|between|among|entre` +
    String.raw`|zwischen|tussen|tra|fra)(?!\p{L})\s*:?\s*`,
  'giu',
);
const OF_CONTRACT = new RegExp(lexicon.contracts.agreement.pattern, 'i');
/** Words that say that another contract is meant than the one that is read. */
const OTHER =
  /that certain|such term|pursuant to|as defined|reference is|referred to|dispute|conflict|relationship/i;
const LEAD = new RegExp(`^(?:${lexicon.contracts.leads.pattern}(?=[\\s“"„«:,]|$)\\s*)+`, 'i');
/** Forms that are written with a full stop at their end. */
const ABBREVIATED =
  /\s(?:Inc|INC|Ltd|LTD|Ltda|Corp|CORP|Co|L\.P|P\.C|N\.A|S\.A|S\.L|S\.p\.A|S\.r\.l|B\.V|N\.V|e\.\s?V|e\.K)$/u;
const NO_NAME = new RegExp(`^${lexicon.contracts.no_names.pattern}(?![\\p{L}].*\\s)\\.?$`, 'u');
const PREAMBLE_CHARACTERS = 1800;
const PARTIES_MAX = 10;
/** So many places that may open a preamble are looked at. */
const PREAMBLES_MAX = 24;

/** The parties of a contract: of its preamble, else of a letter's head and its defined names. */
function partiesOf(prose: Prose): readonly ProseParty[] {
  let tried = 0;
  for (const match of prose.text.matchAll(OPENERS)) {
    if (match.index > prose.text.length * 0.5 + 3000 || tried === PREAMBLES_MAX) break;
    const before = prose.text.slice(Math.max(0, match.index - 300), match.index);
    if (!OF_CONTRACT.test(before) || OTHER.test(before.slice(-160))) continue;
    tried += 1;
    const parties = listFrom(prose.text, match.index + match[0].length);
    if (isPreamble(prose.text, parties)) return distinct(prose, parties);
  }
  return distinct(prose, [...addressee(prose), ...definedNames(prose).slice(0, 1)]);
}

/** A preamble names each party and says something about one: its form, its seat, its alias. */
function isPreamble(text: string, parties: readonly ProseParty[]): boolean {
  const isSaid = ({ name }: ProseParty): boolean =>
    HAS_FORM.test(text.slice(name.from, name.to)) || /^\s*[,(]/.test(text.slice(name.to, name.to + 4));
  const hasAlias = ({ name }: ProseParty): boolean => /^,?\s*\(/.test(text.slice(name.to, name.to + 5));
  return parties.length > 1 ? parties.some(isSaid) : parties.some(hasAlias);
}

function listFrom(text: string, start: number): readonly ProseParty[] {
  const area = text.slice(start, start + PREAMBLE_CHARACTERS);
  const parties: { name: Span; from: number }[] = [];
  for (let at: number | undefined = 0; at !== undefined && parties.length < PARTIES_MAX;) {
    const name = nameAt(area, at);
    if (name !== undefined) parties.push({ name, from: at });
    at = nextStart(area, name?.to ?? at);
  }
  const end = nextStop(area, parties.at(-1)?.name.to ?? 0);
  return parties.map(({ name, from }, index) => ({
    name: { from: start + name.from, to: start + name.to },
    about: folded(area.slice(from, parties[index + 1]?.from ?? end)),
    strength: 0.8,
  }));
}

/** The name that begins here, after articles and titles. */
export function nameAt(area: string, at: number): Span | undefined {
  const lead = LEAD.exec(area.slice(at, at + 120))?.[0].length ?? 0;
  const rest = area.slice(at + lead, at + lead + 140);
  const text = NAME.exec(rest)?.[0].replace(/&$/, '').trimEnd();
  if (text === undefined || text.length < 3 || NO_NAME.test(text) || IS_FORM.test(text)) return undefined;
  const isShort = ABBREVIATED.test(text) && rest[text.length] === '.';
  const whole = isShort ? `${text}.` : text;
  return { from: at + lead, to: at + lead + whole.length };
}

/** After "and" a name is a party when it has a legal form, or something is said about it right after. */
function isParty(area: string, { from, to }: Span): boolean {
  const name = area.slice(from, to);
  if (HAS_FORM.test(name)) return true;
  return /\s/.test(name)
    ? /^\s*[,(.;\n]|^\s*$/.test(area.slice(to, to + 3))
    : /^,?\s*\(/.test(area.slice(to, to + 4));
}

const AND = /^(?:[,;]?\s+(?:and|und|et|y|e|en)\s+|[;\n]\s*|,\s+)/i;

/** Where the next party may begin: behind "and", a semicolon or a comma that no bracket holds. */
function nextStart(area: string, from: number): number | undefined {
  const stop = nextStop(area, from);
  let depth = 0;
  for (let at = from; at < stop; at += 1) {
    const character = area.charAt(at);
    depth = Math.max(0, depth + depthOf(character));
    const part = depth === 0 && /[\s,;]/.test(character) ? AND.exec(area.slice(at, at + 12))?.[0] : undefined;
    if (part !== undefined && opensParty(area, at + part.length, part.trim())) return at + part.length;
  }
  return undefined;
}

const depthOf = (character: string): number =>
  '(['.includes(character) ? 1 : ')]'.includes(character) ? -1 : 0;

/** After a comma or at a line's start only a legal form makes a name a party. */
function opensParty(area: string, at: number, joint: string): boolean {
  const name = nameAt(area, at);
  if (name === undefined) return false;
  const isBare = joint === '' || joint === ',';
  return isBare ? HAS_FORM.test(area.slice(name.from, name.to)) : isParty(area, name);
}

const STOP = new RegExp(
  String.raw`(?<!(?:\s|\()\p{Lu}|Inc|Ltd|Corp|Co|No|Nr|St|Str|S\.A|B\.V|N\.V|L\.P|C|V|L|A)\.` +
    String.raw`["”»)]?\s+\p{Lu}|WHEREAS|WITNESSETH|Recitals|RECITALS|Präambel|§ ?1|wird folgend` +
    String.raw`|il a été convenu|is dated|is entered|dated as of`,
  'u',
);

/** The end of the preamble: a full stop that ends no short form, or the word that opens the next part. */
function nextStop(area: string, from: number): number {
  const rest = area.slice(from);
  const stop = STOP.exec(rest);
  return stop === null ? area.length : from + stop.index;
}

const GREETING = new RegExp(
  String.raw`\n(?:Dear|Sehr geehrte[rs]?|Lieber?|Cher|Chère|Madame|Monsieur|Estimad[oa]|Gentile` +
    String.raw`|Egregio|Geachte|Beste|Prezad[oa]|Exm[oa])\s`,
  'u',
);

/** Without digits, with a blank inside. */
const isTwoWords = (line: string): boolean => !/\d/.test(line) && /\s/.test(line.slice(1, -1));

/** The first line of the address above "Dear …". */
function addressee({ text }: Prose): readonly ProseParty[] {
  const greeting = GREETING.exec(text);
  if (greeting === null) return [];
  const from = Math.max(0, greeting.index - 400);
  const lines = [...text.slice(from, greeting.index).matchAll(/[^\n]+/g)];
  const start = lines.findLast(({ 0: line }) => {
    const name = nameAt(line, 0);
    return name !== undefined && name.to === line.trimEnd().length && isTwoWords(line);
  });
  if (start === undefined) return [];
  const at = from + start.index;
  return [{ name: { from: at, to: at + start[0].trimEnd().length }, about: 'recipient', strength: 0.6 }];
}

/** Names with a legal form that get an alias: `Alpha, Inc. ("Alpha")`. */
function definedNames({ text }: Prose): readonly ProseParty[] {
  const form = new RegExp(
    `(?<=[\\s,])${FORMS}\\.?,?\\s*\\((?:[^()]{0,60})` + '["“„«]([^"”“»]{2,40})["”“»]',
    'gu',
  );
  return [...text.matchAll(form)].flatMap((match) => {
    const start = Math.max(0, match.index - 90);
    const before = text.slice(start, match.index);
    const lead = /(?:^|[\s"“(])((?:\p{Lu}[\p{L}\p{N}'’.&-]*,?\s+)+)$/u.exec(before)?.[1];
    if (lead === undefined) return [];
    const from = match.index - lead.length;
    const name = nameAt(text, from);
    return name === undefined ? [] : [{ name, about: folded(match[0]), strength: 0.55 }];
  });
}

const keyOf = (name: string): string => folded(name).replace(/[^\p{L}\p{N}]/gu, '');

function distinct({ text }: Prose, parties: readonly ProseParty[]): readonly ProseParty[] {
  const keys = parties.map(({ name }) => keyOf(text.slice(name.from, name.to)));
  return parties.filter((_, index) => keys.indexOf(keys[index] ?? '') === index);
}

/** Computed once for a document, for each role asks. */
export const knownParties = once(partiesOf);

/** All parties, as findings. */
export const partyFindings = (prose: Prose): readonly Finding[] =>
  knownParties(prose).flatMap((party) => findingFor(prose, party) ?? []);

/** The name as a finding. */
export function findingFor(prose: Prose, { name, strength }: ProseParty): Finding | undefined {
  const lead = sentenceAt(prose, name.from).from < prose.text.length / 4 ? 0.3 : 0.1;
  return spanFinding(prose, name, { label: strength, strictness: 0.7, margin: lead, agreement: 0 });
}
