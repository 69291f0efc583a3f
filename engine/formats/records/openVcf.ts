import { ownMember } from '../../kernel/json.ts';
import type { Opener } from '../opened.ts';
import {
  readable,
  recordParts,
  shownTime,
  valueParts,
  type ContentLine,
  type RecordPart,
} from './contentLines.ts';
import labels from './labels.json' with { type: 'json' };
import { openRecords, type Labelled, type ReadRecord } from './openRecords.ts';

const CONTACT_LABELS: Readonly<Record<string, string>> = labels.contact;
const KINDS: Readonly<Record<string, string>> = labels.kind;
const DATES = new Set(['BDAY', 'ANNIVERSARY']);

/** Opens contacts (vCard): what the shown properties of each say, under plain labels. */
export const openVcf: Opener = ({ text = '' }) => {
  const cards = recordParts(text).filter(({ kind }) => kind === 'VCARD');
  return Promise.resolve(openRecords({ mimeType: 'text/vcard', title: null, records: cards.map(contactOf) }));
};

function contactOf({ lines }: RecordPart): ReadRecord {
  const hasName = lines.some(({ name }) => name === 'FN');
  const order = Object.keys(CONTACT_LABELS);
  return lines
    .flatMap((line): readonly ContentLine[] => {
      if (line.name === 'N' && !hasName) return [{ ...line, name: 'FN', value: nameOf(line.value) }];
      return Object.hasOwn(CONTACT_LABELS, line.name) ? [line] : [];
    })
    .sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
    .map((line) => ({ label: labelOf(line), value: shownOfContact(line) }))
    .filter(({ value }: Labelled) => value !== '');
}

/** Family name, given name, further names, prefixes, suffixes: as they are called. */
function nameOf(value: string): string {
  const [family = '', given = '', further = '', prefix = '', suffix = ''] = valueParts(value, ';');
  return written([prefix, given, further, family, suffix], ' ');
}

/** `Work phone`, `Home address`. */
function labelOf({ name, parameters }: ContentLine): string {
  const label = ownMember(CONTACT_LABELS, name) ?? name;
  const types = new Set((parameters.get('TYPE') ?? []).map((type) => type.toUpperCase()));
  const kind = Object.entries(KINDS)
    .flatMap(([type, word]) => (types.has(type) ? [word] : []))
    .join(' ');
  return kind === '' ? label : `${kind} ${label.toLowerCase()}`;
}

function shownOfContact({ name, parameters, value }: ContentLine): string {
  if (name === 'ADR' || name === 'ORG') return written(valueParts(value, ';'), ', ');
  if (name === 'CATEGORIES' || name === 'NICKNAME') return written(valueParts(value, ','), ', ');
  if (DATES.has(name)) return shownTime(value, undefined);
  const isAddress = (parameters.get('VALUE') ?? []).some((one) => one.toUpperCase() === 'URI');
  return isAddress ? value.replace(/^(?:tel|mailto):/i, '').trim() : readable(value);
}

const written = (parts: readonly string[], between: string): string =>
  parts.filter((part) => part !== '').join(between);
