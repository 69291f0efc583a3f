import type { Field } from '../fields/fields.ts';
import { blocksOf, type AddressBlock, goesOnBelow, type Part, isContact } from './addressBlocks.ts';
import { textFinding, type Evidence, type Finding } from '../finding.ts';
import { isStreet, postalLine, type Range, isCountry } from './postal.ts';
import type { Source } from '../source.ts';
import { findText, isValue } from '../texts.ts';
import type { Row } from '../places/layout.ts';
import { sellerName } from './parties.ts';
import { isDocumentTitle } from './partyNames.ts';
import { withoutEnd, folded } from '../../kernel/text.ts';

/** Part of an address, or the whole: of the party that the field speaks of. */
export function findAddress(field: Field, source: Source): Finding | undefined {
  const labelled = field.role === undefined ? findText(field, source) : undefined;
  if (labelled !== undefined) return partOfLabelled(field, withLinesBelow(field, labelled, source));
  const isWholeSellers = (field.role ?? 'seller') === 'seller' && field.concept?.id === 'address';
  return (isWholeSellers ? slipAddress(source) : undefined) ?? inBlocks(field, source);
}

function inBlocks({ role, concept }: Field, source: Source): Finding | undefined {
  const blocks = blocksOf(source);
  const only = blocks.length === 1 && role === undefined ? blocks[0] : undefined;
  const block = blocks.find((one) => one.role === (role ?? 'seller')) ?? only;
  return block === undefined ? undefined : partOf(concept?.id, block);
}

/** A whole address that a label names goes on below its first line. */
function withLinesBelow({ concept }: Field, finding: Finding, { layout }: Source): Finding {
  const last = finding.words.at(-1);
  const segment =
    concept?.id === 'address' ? layout.segments.find(({ words }) => words.at(-1) === last) : undefined;
  const lines = segment === undefined ? [] : goesOnBelow(segment, layout);
  if (lines.length === 0) return finding;
  const texts = [finding.text, ...lines.map(({ text }) => text)].map((text) => text.replace(/[,;]$/, ''));
  const words = [...finding.words, ...lines.flatMap((line) => line.words)];
  return { ...finding, value: texts.join(', '), text: texts.join(' '), words };
}

/** A label may stand before a whole address where the schema asks for one part. */
function partOfLabelled({ concept }: Field, finding: Finding): Finding | undefined {
  if (concept?.id !== 'city' && concept?.id !== 'postal_code') return finding;
  const range = postalLine(finding.text)?.[concept.id];
  if (range === undefined) return finding;
  const text = finding.text.slice(range.from, range.to);
  return text === '' ? undefined : { ...finding, text, value: text };
}

function partOf(part: string | undefined, block: AddressBlock): Finding | undefined {
  const label = block.isTitled ? 0.78 : 0.65;
  const evidence: Evidence = { label, strictness: 0.7, margin: 0.2, agreement: 0, kind: 'place' };
  const of = (one: Part | undefined): Finding | undefined =>
    one === undefined || one.to <= one.from ? undefined : textFinding([one], evidence);
  const { postal, parts, street, country } = block;
  const within = (range: Range | undefined): Part | undefined =>
    range === undefined || range.to <= range.from
      ? undefined
      : { segment: postal.segment, from: postal.from + range.from, to: postal.from + range.to };
  switch (part) {
    case 'postal_code':
    case 'city':
    case 'region':
      return of(within(parts[part]));
    case 'street':
      return of(street ?? beforeTown(block));
    case 'house_number':
      return of(houseNumber(street ?? beforeTown(block)));
    case 'country':
      return of(country);
    default:
      return whole(block.lines, evidence);
  }
}

/** The lines of an address read as one with commas between them. */
function whole(lines: readonly Part[], evidence: Evidence): Finding | undefined {
  const finding = textFinding(lines, evidence);
  const texts = lines.map(({ segment, from, to }) =>
    segment.text.slice(from, to).trim().replace(/[,;]$/, ''),
  );
  return finding === undefined ? undefined : { ...finding, value: texts.join(', ') };
}

/** Street and town on one line: what stands before the postal code or the town. */
function beforeTown({ postal, parts }: AddressBlock): Part | undefined {
  const { segment, from, to } = postal;
  const town = parts.city.to > 0 ? parts.city.from : Number.POSITIVE_INFINITY;
  const text = segment.text.slice(from, to).slice(0, Math.min(parts.postal_code.from, town));
  const street = withoutEnd(text, /[\s,·•|–-]/);
  return isStreet(street) ? { segment, from, to: from + street.length } : undefined;
}

function houseNumber(street: Part | undefined): Part | undefined {
  if (street === undefined) return undefined;
  const text = street.segment.text.slice(street.from, street.to);
  const match = /^(\d{1,5} ?[a-zA-Z]?)(?=[,\s])|\s(\d{1,5} ?[a-zA-Z]?(?:[-/]\d{1,4})?)$/.exec(text);
  const number = match?.[1] ?? match?.[2];
  if (match === null || number === undefined) return undefined;
  const from = street.from + match.index + match[0].length - number.length;
  return { segment: street.segment, from, to: from + number.length };
}

const HEAD_ROWS = 8;
const ADDRESS_ROWS = 5;
const CODE = /(?:^|[\s,])\d{4,6}(?=$|[\s,.])/;

/** A label, or a number in brackets under which a company is registered. */
const isNoLine = (text: string): boolean => text.includes(':') || (/^\(\S+\)$/.test(text) && /\d/.test(text));

/**
 * The address in the head of a slip that OCR has read: the lines under the shop's name, down to the one with
 * the postal code and the town. Read by lines, for OCR breaks words and codes.
 */
function slipAddress(source: Source): Finding | undefined {
  const lines = isRecognised(source) ? headLines(source) : [];
  if (!lines.some((row) => isStreet(textOf(row)))) return undefined;
  if (lines.length < 2 && !lines.some((row) => CODE.test(textOf(row)))) return undefined;
  const parts = lines.flatMap(({ segments }) =>
    segments.map((segment) => ({ segment, from: 0, to: segment.text.length })),
  );
  const finding = textFinding(parts, {
    label: 0.6,
    strictness: 0.5,
    margin: 0.1,
    agreement: 0,
    kind: 'place',
  });
  const value = lines.map((row) => textOf(row).replace(/[,;]$/, '')).join(', ');
  return finding === undefined ? undefined : { ...finding, value };
}

const isRecognised = ({ layout: { segments } }: Source): boolean =>
  segments.some(({ words }) => words.some(({ confidence }) => confidence < 1));

const textOf = ({ segments }: Row): string => segments.map(({ text }) => text).join(' ');

function headLines(source: Source): readonly Row[] {
  const { rows } = source.layout;
  const name = folded(sellerName(source) ?? '');
  const at = rows.slice(0, HEAD_ROWS).findIndex((row) => name !== '' && folded(textOf(row)).includes(name));
  const lines: Row[] = [];
  for (const row of at < 0 ? [] : rows.slice(at + 1, at + 1 + HEAD_ROWS)) {
    if (lines.length === ADDRESS_ROWS || isAfterEnd(row, lines)) break;
    if (isLine(row, source)) lines.push(row);
    else if (lines.length > 0) break;
  }
  return lines;
}

/** An address ends with a country; after the postal code only the rest of a town may come. */
function isAfterEnd(row: Row, lines: readonly Row[]): boolean {
  const before = lines.map(textOf);
  if (before.some((line) => isCountry(folded(line)))) return true;
  const hasCode = before.some((line) => CODE.test(line.replace(/\d{1,20}[-/]\d{1,20}/g, '')));
  return hasCode && (/\d/.test(textOf(row)) || textOf(row).split(' ').length > 4);
}

function isLine(row: Row, source: Source): boolean {
  const text = textOf(row);
  const [first] = row.segments;
  if (first === undefined || !/\p{L}{3}/u.test(text) || isNoLine(text)) return false;
  return !isContact(text) && !isDocumentTitle(text) && isValue({ ...first, text }, source);
}
