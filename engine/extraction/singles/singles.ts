import { calibratedSingle, type Origin } from '../calibration.ts';
import type { EvidenceKind } from '../evidence.ts';
import type { Field } from '../fields/fields.ts';
import type { Finding } from '../finding.ts';
import { wordsIn } from '../places/layout.ts';
import type { Source } from '../source.ts';
import { chosen } from './choose.ts';
import type { Offer } from './offer.ts';
import { offersFor } from './offers.ts';
import { shapeOf, type Shape } from './shapes.ts';
import { isNoValue } from './vetoes.ts';

/** What the rules of a concept say of a field. */
export type ByRules = (field: Field) => Finding | undefined;

/** A finding with who found it, and how sure that was before it was calibrated. */
export interface Rated extends Finding {
  readonly origin: Origin;
  readonly raw: number;
}

/**
 * The values of a schema's single fields: what labels and sentences offer by the schema's own words, beside
 * what the rules of known concepts find; the surer of both, and no words twice.
 */
export function singlesOf(fields: readonly Field[], source: Source, byRules: ByRules): ReadonlyMap<string, Rated> {
  return chosen(fields.map((field) => ({ field, findings: contending(field, source, byRules) })));
}

/** All findings for a field, each with its confidence. */
function contending(field: Field, source: Source, byRules: ByRules): readonly Rated[] {
  const ruled = byRules(field);
  const rule = ruled === undefined || isNoValue(field, ruled, source) ? undefined : ruled;
  const offers = offersFor(field, source).map((offer) => offered(field, offer));
  if (rule === undefined || offers.some((one) => isPartOf(rule, one))) return offers;
  const agreeing = offers.find(({ value }) => isSame(value, rule.value));
  if (agreeing === undefined) return [rated(rule, 'rules', rule.confidence), ...offers];
  const both = rated({ ...rule, kind: agreeing.kind }, 'both', Math.max(rule.confidence, agreeing.raw));
  return [both, ...offers.filter((one) => one !== agreeing)];
}

/** The rule took only a part of what the label names. */
const isPartOf = (rule: Finding, { kind, words }: Finding): boolean =>
  WHOLE.has(kind ?? 'form') && rule.words.length < words.length && rule.words.every((word) => words.includes(word));

const WHOLE: ReadonlySet<EvidenceKind> = new Set<EvidenceKind>(['colon', 'cell', 'right', 'below']);

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function rated(finding: Finding, origin: Origin, raw: number, isFree = false): Rated {
  const read = finding.words.reduce((least, { confidence }) => Math.min(least, confidence), 1);
  const share = calibratedSingle({ origin, kind: finding.kind ?? 'form', isFree }, raw);
  const confidence = Math.round(1000 * (origin === 'labels' ? read : 1) * share) / 1000;
  return { ...finding, origin, raw, confidence };
}

function offered(field: Field, { segment, from, to, value, text, kind, score }: Offer): Rated {
  const words = wordsIn(segment, from, to);
  return rated({ value, text, page: segment.page, words, confidence: 0, kind }, 'labels', score, FREE.has(shapeOf(field)));
}

/** Shapes that nearly any text has. */
const FREE: ReadonlySet<Shape> = new Set<Shape>(['text', 'name']);
