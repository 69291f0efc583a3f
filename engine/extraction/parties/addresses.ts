import { withoutEnd } from '../../kernel/text.ts';
import type { Field } from '../fields/fields.ts';
import { blocksOf, type AddressBlock, type Part } from './addressBlocks.ts';
import { textFinding, type Evidence, type Finding } from '../finding.ts';
import { isStreet, postalLine, type Range } from './postal.ts';
import { slipAddress } from './slipAddress.ts';
import type { Source } from '../source.ts';
import { findText } from '../texts.ts';

/** Part of an address, or the whole: of the party that the field speaks of. */
export function findAddress(field: Field, source: Source): Finding | undefined {
  const labelled = field.role === undefined ? findText(field, source) : undefined;
  if (labelled !== undefined) return partOfLabelled(field, labelled);
  const isWholeSellers = (field.role ?? 'seller') === 'seller' && field.concept?.id === 'address';
  return (isWholeSellers ? slipAddress(source) : undefined) ?? inBlocks(field, source);
}

function inBlocks({ role, concept }: Field, source: Source): Finding | undefined {
  const blocks = blocksOf(source);
  const only = blocks.length === 1 && role === undefined ? blocks[0] : undefined;
  const block = blocks.find((one) => one.role === (role ?? 'seller')) ?? only;
  return block === undefined ? undefined : partOf(concept?.id, block);
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
