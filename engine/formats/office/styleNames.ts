import type { Role } from '../pieces/blocks.ts';

const HEADING =
  /^(?:heading|überschrift|berschrift|titre|titulo|título|titolo|encabezado|intestazione|kop|rubrik|overskrift|otsikko|nagłówek|naglowek|nadpis|címsor|заголовок|cabeçalho|cabealho|başlık|標題|标题|標題|見出し|제목)\s*([1-9])$/i;
const TITLE =
  /^(?:title|titel|titre|título|titulo|titolo|otsikko|tytuł|název|название|标题|標題|表題|제목)$/i;
const SUBTITLE =
  /^(?:subtitle|untertitel|sous-titre|subtítulo|subtitulo|sottotitolo|ondertitel|underrubrik|undertitel|podtytuł|подзаголовок)$/i;
const CONTENTS_TITLE = /^(?:toc heading|contents heading|toa heading)$/i;
const CODE =
  /^(?:source ?code|code(?: ?block)?|html preformatted|macro ?text|preformatted ?text|quelltext|listing|code listing)$/i;

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
