/** What the inline style and the attributes of an element say of its text. */
export interface ElementStyle {
  readonly isHidden: boolean;
  readonly bold: boolean | null;
  readonly italic: boolean | null;
  /** Whether the element says what is behind its text. */
  readonly background: boolean;
  /** Whether its text is white. */
  readonly white: boolean;
}

const HIDES = new RegExp(
  String.raw`(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0` +
    String.raw`(?:\.0+)?(?:px|pt|em|rem|%)?\s*(?:;|!|$)|opacity\s*:\s*0(?:\.0+)?\s*(?:;|!|$)` +
    String.raw`|mso-hide\s*:\s*all)`,
  'i',
);
const TINY = /(?:^|;)\s*font-size\s*:\s*(?:0?\.\d+|1(?:\.\d+)?)p[xt]/i;
const WHITE =
  /(?:^|;)\s*color\s*:\s*(?:#fff(?:fff)?|white|rgb\(\s*255\s*,\s*255\s*,\s*255\s*\)|transparent)\s*(?:;|!|$)/i;

/** Reads what hides and what emphasises; sheets of styles are not looked at. */
export function styleOf(attributes: Readonly<Record<string, string>>): ElementStyle {
  const style = attributes['style'] ?? '';
  const weight = wordOf(style, /font-weight\s*:\s*(\w+)/i);
  const slant = wordOf(style, /font-style\s*:\s*(\w+)/i);
  return {
    isHidden: attributes['hidden'] !== undefined || HIDES.test(style) || TINY.test(style),
    bold: weight === null ? null : /^(?:bold|bolder|[6-9]00)$/.test(weight),
    italic: slant === null ? null : slant !== 'normal',
    background: /background/i.test(style) || attributes['bgcolor'] !== undefined,
    white: WHITE.test(style) || /^(?:#fff(?:fff)?|white)$/i.test(attributes['color'] ?? ''),
  };
}

const wordOf = (style: string, pattern: RegExp): string | null =>
  pattern.exec(style)?.[1]?.toLowerCase() ?? null;
