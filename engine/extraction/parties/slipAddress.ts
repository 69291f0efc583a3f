import { isContact } from './addressBlocks.ts';
import { textFinding, type Finding } from '../finding.ts';
import type { Row } from '../places/layout.ts';
import { sellerName } from './parties.ts';
import { isDocumentTitle } from './partyNames.ts';
import { isCountry, isStreet } from './postal.ts';
import type { Source } from '../source.ts';
import { isValue } from '../texts.ts';
import { folded } from '../fields/words.ts';

const HEAD_ROWS = 8;
const ADDRESS_ROWS = 5;
const CODE = /(?:^|[\s,])\d{4,6}(?=$|[\s,.])/;

/** A label, or a number in brackets under which a company is registered. */
const isNoLine = (text: string): boolean => text.includes(':') || (/^\(\S+\)$/.test(text) && /\d/.test(text));

/**
 * The address in the head of a slip that OCR has read: the lines under the shop's name, down to the one with
 * the postal code and the town. Read by lines, for OCR breaks words and codes.
 */
export function slipAddress(source: Source): Finding | undefined {
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
