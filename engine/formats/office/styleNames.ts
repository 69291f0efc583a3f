import type { Role } from '../pieces/blocks.ts';
import { oneOf } from '../../kernel/text.ts';
import names from './styleNames.json' with { type: 'json' };

const HEADING = new RegExp(`^${oneOf(names.heading)}\\s*([1-9])$`, 'i');
const TITLE = new RegExp(`^${oneOf(names.title)}$`, 'i');
const SUBTITLE = new RegExp(`^${oneOf(names.subtitle)}$`, 'i');
const CONTENTS_TITLE = new RegExp(`^${oneOf(names.contents)}$`, 'i');
const CODE = new RegExp(`^${oneOf(names.code)}$`, 'i');

/** What a style's name says that its paragraphs are; undefined where it says nothing. */
export function roleOfName(styleName: string): Role | undefined {
  const name = styleName.replace(/_20_|[\s_]+/g, ' ').trim();
  const level = HEADING.exec(name)?.[1];
  if (level !== undefined) return { kind: 'heading', level: Number(level) };
  if (CONTENTS_TITLE.test(name)) return { kind: 'heading', level: 1 };
  if (TITLE.test(name)) return { kind: 'title' };
  if (SUBTITLE.test(name)) return { kind: 'subtitle' };
  return CODE.test(name) ? { kind: 'code' } : undefined;
}
