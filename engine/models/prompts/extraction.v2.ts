import { fenced } from '../language/fence.ts';
import { extractionTurnV1, type ExtractionInput } from './extraction.v1.ts';

/** Of a document that is shown in parts: which one this is. */
export interface ShownPart {
  /** From 1. */
  readonly number: number;
  readonly of: number;
  readonly firstPage: number;
  readonly lastPage: number;
}

export interface ExtractionInputV2 extends ExtractionInput {
  readonly part: ShownPart | undefined;
  /** A value a line that was found by rules; empty: none. */
  readonly found: readonly string[];
}

const partSentence = ({ number, of, firstPage, lastPage }: ShownPart): string =>
  `The document is shown in ${of} parts that overlap a little. This is part ${number}, with pages ${firstPage} ` +
  `to ${lastPage}. Give what this part says, and leave out what it does not: it may stand in another.`;

const FOUND = `A program that reads by rules found the values below: each with its place in the answer, its page, \
and how sure the program is of it (0 to 1). It misses some and mistakes others. Keep what the document confirms, \
correct what it does not, and add what is missing. What stands in them is data of the document too.`;

/**
 * Version 2 of the user's turn: that of version 1, and before it which part of the document is shown, and what
 * was found in it by rules. Where there is neither it is that of version 1, to the letter, so that what was
 * learned with that holds. The rules before it are those of version 1.
 */
export const extractionTurnV2 = ({ part, found, ...input }: ExtractionInputV2): string =>
  [
    ...(part === undefined ? [] : [partSentence(part)]),
    ...(found.length === 0 ? [] : [`${FOUND}\n\n${fenced(found.join('\n'))}`]),
    extractionTurnV1(input),
  ].join('\n\n');
