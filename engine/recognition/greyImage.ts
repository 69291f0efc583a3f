import sharp, { type Sharp } from 'sharp';
import type { Pixels } from '../layout/content.ts';

/** A grey picture without transparency. What density its file claims does not count. */
export interface GreyImage {
  readonly png: Buffer;
  readonly width: number;
  readonly height: number;
  /** Dots per inch that recognition is told, from which it guesses how large letters are. */
  readonly dpi: number;
}

/** The picture in grey on white. It is packed anew from its pixels, so that nothing else of its file is kept. */
export async function greyImage(image: Sharp, dpi: number): Promise<GreyImage> {
  const { data, info } = await image
    .flatten({ background: '#ffffff' })
    .greyscale()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return packed(data, { width: info.width, height: info.height, dpi });
}

/** Grey pixels, one byte each, as a picture. */
export async function packed(
  data: Buffer,
  { width, height, dpi }: Omit<GreyImage, 'png'>,
): Promise<GreyImage> {
  const channels = Math.max(1, Math.round(data.length / (width * height))) as 1 | 2 | 3 | 4;
  const png = await sharp(data, { raw: { width, height, channels } })
    .extractChannel(0)
    .withMetadata({ density: dpi })
    .png({ compressionLevel: 1 })
    .toBuffer();
  return { png, width, height, dpi };
}

export const pixelsOf = async ({
  png,
  width,
  height,
}: Pick<GreyImage, 'png' | 'width' | 'height'>): Promise<Pixels> => ({
  data: await sharp(png).extractChannel(0).raw().toBuffer(),
  width,
  height,
});
