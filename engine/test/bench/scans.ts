import sharp from 'sharp';
import { parseFile } from '../../recognition/liteparse.ts';
import { pagedPdf, scannedPdf } from './pagedPdf.ts';
import { reportPages } from './pdfPages.ts';

const SCAN_DPI = 200;

/** Pages as a scanner gives them: drawn at 200 dpi, a little tilted and blurred, as grey JPEGs in a PDF. */
export async function scannedReport(pages: number): Promise<Buffer> {
  const { screenshots } = await parseFile(pagedPdf(reportPages(pages, 2)), {
    ocrEnabled: false,
    quiet: true,
    outputFormat: 'json',
    extractScreenshots: true,
    dpi: SCAN_DPI,
  });
  const pictures = [];
  for (const [index, { imageBuffer }] of screenshots.entries()) {
    const { data, info } = await sharp(imageBuffer)
      .flatten({ background: '#fff' })
      .rotate(index % 2 === 0 ? 0.4 : -0.4, { background: '#fff' })
      .blur(0.6)
      .toColourspace('b-w')
      .jpeg({ quality: 80 })
      .toBuffer({ resolveWithObject: true });
    pictures.push({ jpeg: data, width: info.width, height: info.height });
  }
  return scannedPdf(pictures);
}
