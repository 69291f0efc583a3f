import type { Field } from '../fields/fields.ts';
import type { Finding } from '../finding.ts';
import { duration, governingLaw, venue } from './proseClauses.ts';
import { proseDate } from './proseDates.ts';
import { partyFindings } from './proseParties.ts';
import { partiesInRole, partyInRole, roleOf } from './roles.ts';
import { proseOf, type Prose } from './prose.ts';
import type { Source } from '../source.ts';
import { lexicon } from '../words/lexicon.ts';

const PARTY = new RegExp(`^${lexicon.contracts.party_field.pattern}$`);
const LAW = new RegExp(`^${lexicon.contracts.law_field.pattern}$`);
const VENUE = new RegExp(`^${lexicon.contracts.venue_field.pattern}$`);
const LASTING = new RegExp(`^${lexicon.contracts.lasting_field.pattern}$`);

const says = ({ terms: { name } }: Field, shape: RegExp): boolean => name.some((word) => shape.test(word));

/** What the sentences of a document say of a field; undefined where it is a form, or they do not say it. */
export function findInProse(field: Field, source: Source): Finding | undefined {
  const found = inProse(field, source);
  return found && { ...found, kind: 'prose' };
}

function inProse(field: Field, source: Source): Finding | undefined {
  const prose = proseOf(source);
  if (prose === undefined || field.choices.length > 0) return undefined;
  if (field.kind === 'date') return proseDate(field, prose, source.conventions.dayFirst);
  if (field.kind === 'text' || field.kind === 'party') return said(field, prose, source);
  if (field.type === 'string' || field.type === 'boolean') return undefined;
  return says(field, LASTING) ? duration(field, prose) : undefined;
}

function said(field: Field, prose: Prose, source: Source): Finding | undefined {
  const party = saysOtherOf(field) ? undefined : partyInRole(prose, roleOf(field), source);
  if (party !== undefined) return party;
  if (says(field, VENUE)) return venue(prose) ?? governingLaw(field, prose);
  if (says(field, LAW)) return governingLaw(field, prose) ?? venue(prose);
  return says(field, LASTING) && !says(field, /^payment$/) ? duration(field, prose) : undefined;
}

const NOT_PARTY = new RegExp(`^${lexicon.contracts.not_party_field.pattern}$`);

/** Of a party, but not its name. */
const saysOtherOf = (field: Field): boolean => says(field, NOT_PARTY);

/** The parties as a list, where the field asks for parties, or for those that have a role. */
export function listInProse(field: Field, source: Source): readonly Finding[] {
  const prose = proseOf(source);
  if (prose === undefined || saysOtherOf(field)) return [];
  return says(field, PARTY) ? partyFindings(prose) : partiesInRole(roleOf(field), source);
}
