import { childAt, elementsOf, findAll, type XmlElement } from '../office/xmlTree.ts';
import { said, type OdtStyles } from './odtStyles.ts';

/** The colour of a text, and whether the text itself has another colour than white behind it. */
export interface Colours {
  readonly isWhite: boolean;
  readonly isShaded: boolean;
}

export const ON_WHITE: Colours = { isWhite: false, isShaded: false };

export const isWhiteOnWhite = ({ isWhite, isShaded }: Colours): boolean => isWhite && !isShaded;

/** The colours of a text by its styles, where they say nothing those around it. */
export function coloursOf(chain: readonly XmlElement[], around: Colours): Colours {
  const says = (properties: string, attribute: string): string | undefined =>
    said(chain, properties, attribute);
  const isAutomatic = says('style:text-properties', 'style:use-window-font-color') === 'true';
  const colour = says('style:text-properties', 'fo:color');
  const shades = ['style:text-properties', 'style:paragraph-properties'].map((properties) =>
    says(properties, 'fo:background-color'),
  );
  return {
    isWhite: !isAutomatic && (colour === undefined ? around.isWhite : /^#f{6}$/i.test(colour)),
    isShaded: around.isShaded || shades.some(isColoured),
  };
}

const isColoured = (colour: string | undefined): boolean =>
  colour !== undefined && !/^(?:transparent|#f{6})$/i.test(colour);

const BACKGROUNDS = [
  ['table', 'style:table-properties'],
  ['table-row', 'style:table-row-properties'],
  ['table-cell', 'style:table-cell-properties'],
] as const;

/** Whether a table, row or cell has a colour or a picture behind its text. */
export const isFilled = ({ attributes }: XmlElement, styles: OdtStyles): boolean =>
  BACKGROUNDS.some(([family, properties]) => {
    const chain = styles.chainOf(family, attributes['table:style-name']);
    return isColoured(said(chain, properties, 'fo:background-color')) || chain.some(hasPicture);
  });

const hasPicture = (style: XmlElement): boolean =>
  elementsOf(style).some((properties) => childAt(properties, 'style:background-image') !== undefined);

/** Whether some page of the document has a colour or a picture behind its text. */
export const hasFilledPages = (styles: XmlElement | undefined): boolean =>
  findAll(styles, 'style:page-layout-properties').some((properties) => {
    const { 'draw:fill': fill = 'none', 'fo:background-color': colour } = properties.attributes;
    const hasImage = childAt(properties, 'style:background-image') !== undefined;
    return fill !== 'none' || isColoured(colour) || hasImage;
  });
