import { once } from '../../kernel/once.ts';
import { inSegment } from '../candidates.ts';
import type { Field } from '../fields/fields.ts';
import type { Finding } from '../finding.ts';
import { duration, governingLaw, venue } from './proseClauses.ts';
import { proseDate } from './proseDates.ts';
import { partyFindings } from './proseParties.ts';
import { partiesInRole, partyInRole, roleOf } from './roles.ts';
import { proseOf, spanFinding, type Prose, type Sentence } from './prose.ts';
import { pick } from '../ranking.ts';
import type { Source } from '../source.ts';
import { labelWords, wordSimilarity } from '../fields/words.ts';
import { oneOf } from '../../kernel/text.ts';
import contracts from '../lexicon/contracts.json' with { type: 'json' };

const PARTY = new RegExp(`^${oneOf(contracts.party_field)}$`);
const LAW = /^(?:law|laws|jurisdiction|recht|droit|loi|ley|legge|lei|gesetz|legislation)$/;
const VENUE = /^(?:venue|court|courts|forum|gerichtsstand|tribunal|foro)$/;
const LASTING = new RegExp(`^${oneOf(contracts.lasting_field)}$`);

const says = ({ terms: { name } }: Field, shape: RegExp): boolean => name.some((word) => shape.test(word));

/** What the sentences of a document say of a field; undefined where it is a form, or they do not say it. */
export function findInProse(field: Field, source: Source): Finding | undefined {
  const found = inProse(field, source);
  return found && { ...found, kind: 'prose' };
}

function inProse(field: Field, source: Source): Finding | undefined {
  const prose = proseOf(source);
  if (prose === undefined || field.choices.length > 0) return undefined;
  if (field.kind === 'date')
    return labelledDate(field, source) ?? proseDate(field, prose, source.conventions.dayFirst);
  if (field.kind === 'text' || field.kind === 'party') return said(field, prose, source);
  if (field.type === 'string' || field.type === 'boolean') return undefined;
  return says(field, LASTING) ? duration(field, prose) : amount(field, prose, source);
}

/** A label says best which date is meant, but for those on which a contract begins and ends. */
const labelledDate = (field: Field, source: Source): Finding | undefined =>
  ['start_date', 'end_date'].includes(field.concept?.id ?? '') ? undefined : pick(field, source);

function said(field: Field, prose: Prose, source: Source): Finding | undefined {
  const party = saysOtherOf(field) ? undefined : partyInRole(prose, roleOf(field), source);
  if (party !== undefined) return party;
  if (says(field, VENUE)) return venue(prose) ?? governingLaw(field, prose);
  if (says(field, LAW)) return governingLaw(field, prose) ?? venue(prose);
  return says(field, LASTING) && !says(field, /^payment$/) ? duration(field, prose) : undefined;
}

/** Of a party, but not its name. */
const saysOtherOf = (field: Field): boolean =>
  says(field, /^(?:address|adresse|anschrift|email|phone|title|role|country|city|representative|nr|type)$/);

/** The parties as a list, where the field asks for parties, or for those that have a role. */
export function listInProse(field: Field, source: Source): readonly Finding[] {
  const prose = proseOf(source);
  if (prose === undefined || saysOtherOf(field)) return [];
  return says(field, PARTY) ? partyFindings(prose) : partiesInRole(roleOf(field), source);
}

const NEAR_CHARACTERS = 80;

/** A number right after the words that name the field, in the same sentence. */
function amount(field: Field, prose: Prose, source: Source): Finding | undefined {
  const isPercent = says(field, /^(?:percent|percentage|rate|%|share|prozent|taux|tasa|tasso)$/);
  const rated = numbersIn(prose)(source).flatMap((number): readonly Amount[] => {
    const score = number.isPercent === isPercent ? nameShare(field, number.words) : 0;
    return score < 0.75 ? [] : [{ ...number, score }];
  });
  const [best] = rated.sort((a, b) => b.score - a.score);
  if (best === undefined) return undefined;
  const evidence = { label: best.score, strictness: 0.8, margin: 0, agreement: 0 };
  const finding = spanFinding(prose, best, evidence);
  return finding === undefined ? undefined : { ...finding, value: best.value };
}

/** A share or an amount of money, and the words before it. */
interface NumberInProse {
  readonly from: number;
  readonly to: number;
  readonly value: number;
  readonly isPercent: boolean;
  readonly words: readonly string[];
}

interface Amount extends NumberInProse {
  readonly score: number;
}

/** Those of a document, in their order: every field asks for the same ones. */
const numbersIn = once((prose: Prose) =>
  once((source: Source) => prose.sentences.flatMap((sentence) => numbersOf(sentence, source))),
);

function numbersOf({ text, from }: Sentence, source: Source): readonly NumberInProse[] {
  const segment = { index: 0, row: 0, page: 1, text, starts: [], words: [], x0: 0, x1: 0, y0: 0, y1: 0 };
  return inSegment(segment, source.conventions).flatMap((candidate): readonly NumberInProse[] => {
    const { value, kind, currency } = candidate;
    if (typeof value !== 'number' || (kind !== 'percent' && currency === undefined)) return [];
    const before = text.slice(Math.max(0, candidate.from - NEAR_CHARACTERS), candidate.from);
    const lead = /^\s*/.exec(candidate.text)?.[0].length ?? 0;
    const place = { from: from + candidate.from + lead, to: from + candidate.to };
    const found = { ...place, value, words: labelWords(before) };
    return [
      ...(kind === 'percent' ? [{ ...found, isPercent: true }] : []),
      ...(currency === undefined ? [] : [{ ...found, isPercent: false }]),
    ];
  });
}

const EMPTY = new Set(['amount', 'total', 'value', 'percent', 'percentage', 'usd', 'eur']);

/** Share of the words of the field's best name that a text has. */
function nameShare({ phrases }: Field, words: readonly string[]): number {
  return phrases.reduce((best, phrase) => {
    const own = phrase.filter((word) => !EMPTY.has(word));
    const hits = own.filter((word) => words.some((other) => wordSimilarity(word, other) >= 0.85));
    return own.length === 0 ? best : Math.max(best, hits.length / own.length);
  }, 0);
}
