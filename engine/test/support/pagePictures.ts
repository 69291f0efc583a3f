import { parseFile } from '../../recognition/liteparse.ts';

/** The first page of a PDF as a PNG. */
export const pictureOf = async (pdf: Buffer, dpi = 150): Promise<Buffer> => {
  const { screenshots } = await parseFile(pdf, {
    ocrEnabled: false,
    quiet: true,
    outputFormat: 'json',
    extractScreenshots: true,
    dpi,
  });
  const [first] = screenshots;
  if (first === undefined) throw new Error('the page was not drawn');
  return first.imageBuffer;
};
