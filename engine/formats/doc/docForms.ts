import type { DocFile } from './docFile.ts';
import { numberOf, type Modifier } from './docProperties.ts';

const PLACE = 0x6a03;
/** Of a header that says where the data of a field are, after it (MS-DOC 2.9.157). */
const HEADER_LENGTH_AT = 4;
const STANDARD_RESULT = 25;
const CHECK_BOX = 1;

/**
 * Whether a check box of an old form is ticked, by the data that the character in its field points to
 * (MS-DOC 2.9.78); null where they are none of a check box.
 */
export function isTicked({ data }: DocFile, modifiers: readonly Modifier[]): boolean | null {
  const place = numberOf(modifiers, PLACE);
  if (place === undefined || place + 6 > data.length) return null;
  const at = place + data.readUInt16LE(place + HEADER_LENGTH_AT);
  if (at + 12 > data.length) return null;
  const bits = data.readUInt16LE(at + 4);
  if ((bits & 3) !== CHECK_BOX) return null;
  const result = (bits >> 2) & 0x1f;
  if (result !== STANDARD_RESULT) return result === 1;
  const standardAt = at + 10 + 2 + data.readUInt16LE(at + 10) * 2 + 2;
  return standardAt + 2 <= data.length && data.readUInt16LE(standardAt) === 1;
}
